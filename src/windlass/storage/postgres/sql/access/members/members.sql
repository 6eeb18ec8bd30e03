-- Tells who has which role in a tenant, by name.
select m.*, u.name
from windlass_members m join windlass_users u on u.id = m.user_id
where (cast(:tenant_id as text) is null or m.tenant_id = :tenant_id) and (cast(:user_id as uuid) is null or m.user_id = :user_id)
    and (cast(:name as text) is null or u.name = :name)
order by m.tenant_id, u.name limit :most
