-- Finds the next triggers an event sets off, in the order of their ids.
select t.* from windlass_triggers t
join windlass_definitions d on d.key = t.definition and d.enabled = 1
where t.tenant_id = :tenant_id and t.event_name = :name and t.enabled = 1 and t.missing_from_code = 0
    and (:after is null or t.id > :after)
order by t.id
limit :most
