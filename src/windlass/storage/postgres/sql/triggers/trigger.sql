-- Tells one trigger.
select * from windlass_triggers where id = :id and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
