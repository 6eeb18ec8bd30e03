-- Finds some open jobs of a tenant and of some definitions, among the newest that are open.
select id from (
    select * from (
        select id, tenant_id, definition from windlass_live {index primary}
        order by id desc limit :look
    ) live
    union all
    select * from (
        select id, tenant_id, definition from windlass_later {index windlass_later_tenant}
        where tenant_id = :tenant_id order by id desc limit :look
    ) later
) newest
where tenant_id = :tenant_id and definition in (select name from {names} n)
order by id desc
limit :most
