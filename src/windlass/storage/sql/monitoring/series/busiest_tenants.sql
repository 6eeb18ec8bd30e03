-- The tenants whose attempts that ended took the most time, in the slots asked for, in the minutes
-- after them, and in what is not rolled up yet.
select tenant_id, {sum run_ms} as run_ms
from (
    select r.tenant_id, r.run_ms
    from {spans} s {join} windlass_rollups r on r.span = s.span and r.slot = s.at
    where r.tenant_id <> '' and r.run_ms > 0
    union all
    select tenant_id, run_ms from windlass_minutes
    where minute >= {time :minutes_since} and run_ms > 0
    union all
    select tenant_id, run_ms from windlass_deltas where at >= {time :since} and run_ms > 0
) m
where ({text :tenant_id} is null or tenant_id = :tenant_id)
group by tenant_id
order by {sum run_ms} desc, tenant_id limit :most
