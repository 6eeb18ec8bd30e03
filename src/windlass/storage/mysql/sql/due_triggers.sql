-- Finds triggers whose time has come, the most urgent definitions' first.
select t.*, {now} as now_at
from windlass_triggers t force index (windlass_triggers_due)
join windlass_definitions d on d.`key` = t.definition and d.enabled = 1
join windlass_tenants n on n.id = t.tenant_id and n.state = 'active'
where t.enabled = 1 and t.missing_from_code = 0 and t.next_run_at <= {now}
order by d.priority, t.next_run_at, t.id
limit :most
