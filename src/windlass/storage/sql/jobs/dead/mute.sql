-- Mutes a group of dead-lettered jobs, with by whom, for how long and why; the last mute counts.
insert into windlass_mutes (definition, fingerprint, tenant_id, muted_at, muted_by, muted_until,
    reason)
select {text :definition}, {text :fingerprint}, {text :tenant_id}, {now}, {text :muted_by},
    {now} + {seconds :seconds}, {text :reason}
from (select 1 as one) one where true
{on_conflict definition, fingerprint, tenant_id}
    muted_at = {new muted_at}, muted_by = {new muted_by}, muted_until = {new muted_until},
    reason = {new reason}
