-- Offers a role to a name, in a tenant that is not deleted and in which the name has none. The link
-- of an offer before it is void.
insert into windlass_invitations (tenant_id, name, role, permissions, hash, created_at, expires_at)
select {text :tenant_id}, {text :name}, {text :role}, {json :permissions}, {text :hash},
    {now}, {now} + {seconds :expires}
from (select 1 as one) one
where (:tenant_id = ''
    or exists (select 1 from windlass_tenants t where t.id = :tenant_id and t.state <> 'deleted'))
    and not exists (select 1 from windlass_members m join windlass_users u on u.id = m.user_id
        where m.tenant_id = :tenant_id and u.name = :name)
{on_conflict tenant_id, name} role = {new role}, permissions = {new permissions},
    hash = {new hash}, created_at = {new created_at}, expires_at = {new expires_at};

select tenant_id, name, role, permissions, created_at from windlass_invitations where hash = :hash
