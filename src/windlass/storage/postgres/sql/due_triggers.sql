-- Finds triggers whose time has come, the most urgent definitions' first.
select t.*, {now} as now_at
from windlass_triggers t
join windlass_definitions d on d.key = t.definition and d.enabled
join windlass_tenants n on n.id = t.tenant_id and n.state = 'active'
where t.enabled and not t.missing_from_code and t.next_run_at <= {now}
order by d.priority, t.next_run_at, t.id
limit :most
