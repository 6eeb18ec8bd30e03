-- Finds some open jobs of a tenant and of some definitions, among the newest that are open.
select id from (
    (select id, tenant_id, definition from windlass_live order by id desc limit :look)
    union all
    (select id, tenant_id, definition from windlass_later where tenant_id = :tenant_id order by id desc limit :look)
) newest
where tenant_id = :tenant_id and definition in (select name from {names} n)
order by id desc
limit :most
