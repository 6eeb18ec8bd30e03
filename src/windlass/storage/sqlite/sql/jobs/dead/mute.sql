-- Says that a group of dead-lettered jobs is muted, by whom, for how long and why; the last word counts.
insert into windlass_mutes (definition, fingerprint, tenant_id, muted_at, muted_by, muted_until, reason)
select :definition, :fingerprint, :tenant_id, {now}, :muted_by, {now} + cast(round(:seconds * 1000000) as integer), :reason
where true
on conflict (definition, fingerprint, tenant_id) do update set
    muted_at = excluded.muted_at, muted_by = excluded.muted_by, muted_until = excluded.muted_until,
    reason = excluded.reason
