-- Forgets a trigger; what it made stays.
delete from windlass_triggers
where id = :id and ({text :tenant_id} is null or tenant_id = :tenant_id) returning id
