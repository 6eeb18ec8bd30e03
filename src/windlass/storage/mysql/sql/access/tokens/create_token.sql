-- Makes a token, for the installation or for a tenant that is not deleted, by a user who is still there.
insert into windlass_tokens (id, name, hash, role, tenant_id, rights, permissions, created_by, created_at, expires_at)
select :id, :name, :hash, :role, :tenant_id, :rights, :permissions, :created_by, {now}, {now} + interval round(:expires * 1000000) microsecond
from dual
where (:tenant_id is null
    or exists (select 1 from windlass_tenants t where t.id = :tenant_id and t.state <> 'deleted'))
    and (:created_by is null or exists (select 1 from windlass_users where id = :created_by lock in share mode));

select id from windlass_tokens where id = :id
