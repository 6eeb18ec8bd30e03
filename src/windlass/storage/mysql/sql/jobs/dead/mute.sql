-- Says that a group of dead-lettered jobs is muted, by whom, for how long and why; the last word counts.
insert into windlass_mutes (definition, fingerprint, tenant_id, muted_at, muted_by, muted_until, reason)
select :definition, :fingerprint, :tenant_id, {now}, :muted_by, {now} + interval round(:seconds * 1000000) microsecond, :reason
on duplicate key update
    muted_at = values(muted_at), muted_by = values(muted_by), muted_until = values(muted_until),
    reason = values(reason)
