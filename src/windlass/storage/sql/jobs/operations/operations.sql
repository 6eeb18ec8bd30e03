-- Returns bulk operations, newest first.
select * from windlass_operations
where ({text :tenant_id} is null or tenant_id = :tenant_id)
    and ({uuid :before} is null or id < :before)
order by id desc limit :most
