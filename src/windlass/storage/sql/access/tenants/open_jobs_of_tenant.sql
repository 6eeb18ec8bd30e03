-- Some open jobs of a tenant that are not asked to stop yet.
select * from (
    select id from windlass_live where tenant_id = :tenant_id and cancel_requested_at is null
    order by id limit :most
) live
union all
select * from (
    select id from windlass_later where tenant_id = :tenant_id order by id limit :most
) later
