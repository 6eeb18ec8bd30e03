-- Tells a bulk operation.
select * from windlass_operations where id = :id and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
