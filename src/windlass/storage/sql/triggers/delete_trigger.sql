-- Deletes a trigger; its jobs stay.
delete from windlass_triggers
where id = :id and ({text :tenant_id} is null or tenant_id = :tenant_id) returning id
