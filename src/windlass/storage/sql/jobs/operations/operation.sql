-- Returns a bulk operation.
select * from windlass_operations
where id = :id and ({text :tenant_id} is null or tenant_id = :tenant_id)
