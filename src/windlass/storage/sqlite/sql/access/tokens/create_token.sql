-- Makes a token, for the installation or for a tenant that is not deleted, by a user who is still there.
insert into windlass_tokens (id, name, hash, role, tenant_id, rights, permissions, created_by, created_at, expires_at)
select :id, :name, :hash, :role, :tenant_id, :rights, :permissions, :created_by, {now}, {now} + cast(:expires * 1000000 as integer)
where (:tenant_id is null
    or exists (select 1 from windlass_tenants t where t.id = :tenant_id and t.state <> 'deleted'))
    and (:created_by is null or exists (select 1 from windlass_users where id = :created_by))
returning id
