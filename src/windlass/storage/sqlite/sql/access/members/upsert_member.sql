-- Gives a user a role in a tenant that is not deleted.
insert into windlass_members (user_id, tenant_id, role, permissions, created_at)
select u.id, t.id, :role, :permissions, {now}
from windlass_users u, windlass_tenants t
where u.id = :user_id and t.id = :tenant_id and t.state <> 'deleted'
on conflict (user_id, tenant_id) do update set role = excluded.role, permissions = excluded.permissions
returning user_id
