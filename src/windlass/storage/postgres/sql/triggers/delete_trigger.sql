-- Forgets a trigger; what it made stays.
delete from windlass_triggers where id = :id and (cast(:tenant_id as text) is null or tenant_id = :tenant_id) returning id
