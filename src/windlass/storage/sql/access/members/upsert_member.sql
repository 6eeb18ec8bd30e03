-- Gives a user a role in a tenant that is not deleted.
insert into windlass_members (user_id, tenant_id, role, permissions, created_at)
select u.id, t.id, {text :role}, {json :permissions}, {now}
from (select id from windlass_users where id = :user_id {share}) u join windlass_tenants t on true
where t.id = {text :tenant_id} and t.state <> 'deleted'
{on_conflict user_id, tenant_id} role = {new role}, permissions = {new permissions};

select m.user_id from windlass_members m join windlass_tenants t on t.id = m.tenant_id
where m.user_id = :user_id and m.tenant_id = :tenant_id and t.state <> 'deleted'
