-- How jobs of these definitions are made in code, and when the next is due in a tenant, or in any.
select t.definition,
    min(case when t.origin = 'code' and {false t.missing_from_code} then t.type end) as strategy,
    min(case when {true t.enabled} and {false t.missing_from_code}
        and ({text :tenant_id} is null or t.tenant_id = :tenant_id)
        then t.next_run_at end) as next_run_at
from {known} k {join} windlass_triggers t on t.definition = k.{name key}
group by t.definition
