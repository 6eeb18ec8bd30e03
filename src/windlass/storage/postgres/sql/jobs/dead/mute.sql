-- Says that a group of dead-lettered jobs is muted, by whom, for how long and why; the last word counts.
insert into windlass_mutes (definition, fingerprint, tenant_id, muted_at, muted_by, muted_until, reason)
select cast(:definition as text), cast(:fingerprint as text), cast(:tenant_id as text), {now}, cast(:muted_by as text),
    {now} + cast(:seconds as double precision) * interval '1 second', cast(:reason as text)
on conflict (definition, fingerprint, tenant_id) do update set
    muted_at = excluded.muted_at, muted_by = excluded.muted_by, muted_until = excluded.muted_until,
    reason = excluded.reason
