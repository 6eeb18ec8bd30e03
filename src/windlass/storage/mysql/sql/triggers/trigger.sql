-- Tells one trigger.
select * from windlass_triggers where id = :id and (:tenant_id is null or tenant_id = :tenant_id)
