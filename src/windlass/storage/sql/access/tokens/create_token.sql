-- Creates a token, for the installation or for a tenant that is not deleted, by a user who still
-- exists.
insert into windlass_tokens (
    id, name, hash, role, tenant_id, rights, permissions, created_by, created_at, expires_at
)
select
    {uuid :id}, {text :name}, {text :hash}, {text :role}, {text :tenant_id}, {json :rights},
    {json :permissions}, {uuid :created_by}, {now}, {now} + {seconds :expires}
from (select 1 as one) one
where ({text :tenant_id} is null
    or exists (select 1 from windlass_tenants t where t.id = :tenant_id and t.state <> 'deleted'))
    and ({uuid :created_by} is null
        or exists (select 1 from windlass_users where id = {uuid :created_by} {share}));

select id from windlass_tokens where id = :id
