-- Finds the triggers an event sets off.
select t.* from windlass_triggers t
join windlass_definitions d on d.`key` = t.definition and d.enabled = 1
where t.tenant_id = :tenant_id and t.event_name = :name and t.enabled = 1 and t.missing_from_code = 0
order by d.priority, t.id
limit :most
