-- Gives a user a role in a tenant that is not deleted.
insert into windlass_members as m (user_id, tenant_id, role, permissions, created_at)
select u.id, t.id, cast(:role as text), cast(:permissions as json), {now}
from windlass_users u, windlass_tenants t
where u.id = :user_id and t.id = cast(:tenant_id as text) and t.state <> 'deleted'
for key share of u
on conflict (user_id, tenant_id) do update set role = excluded.role, permissions = excluded.permissions
returning user_id
