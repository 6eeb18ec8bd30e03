-- Finds the next triggers an event sets off, in the order of their ids.
select t.* from windlass_triggers t
join windlass_definitions d on d.{name key} = t.definition and {true d.enabled}
where t.tenant_id = :tenant_id and t.event_name = :name and {true t.enabled}
    and {false t.missing_from_code}
    and ({uuid :after} is null or t.id > :after)
order by t.id
limit :most
