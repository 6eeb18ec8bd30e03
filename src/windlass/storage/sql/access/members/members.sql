-- Returns the members of a tenant and their roles, by name.
select m.*, u.name
from windlass_members m join windlass_users u on u.id = m.user_id
where ({text :tenant_id} is null or m.tenant_id = :tenant_id)
    and ({uuid :user_id} is null or m.user_id = :user_id)
    and ({text :name} is null or u.name = :name)
order by m.tenant_id, u.name limit :most
