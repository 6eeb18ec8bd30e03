-- How jobs of these definitions are made in code, and when the next is due in a tenant, or in any.
select t.definition,
    min(case when t.origin = 'code' and t.missing_from_code = 0 then t.type end) as strategy,
    min(case when t.enabled = 1 and t.missing_from_code = 0 and (:tenant_id is null or t.tenant_id = :tenant_id)
        then t.next_run_at end) as next_run_at
from {known} k cross join windlass_triggers t on t.definition = k.key
group by t.definition
