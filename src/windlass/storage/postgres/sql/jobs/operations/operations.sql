-- Tells bulk operations, newest first.
select * from windlass_operations
where (cast(:tenant_id as text) is null or tenant_id = :tenant_id) and (cast(:before as uuid) is null or id < :before)
order by id desc limit :most
