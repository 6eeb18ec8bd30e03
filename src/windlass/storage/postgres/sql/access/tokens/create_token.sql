-- Makes a token, for the installation or for a tenant that is not deleted, by a user who is still there.
with maker as (select id from windlass_users where id = cast(:created_by as uuid) for key share)
insert into windlass_tokens (id, name, hash, role, tenant_id, rights, permissions, created_by, created_at, expires_at)
select cast(:id as uuid), cast(:name as text), cast(:hash as text), cast(:role as text), cast(:tenant_id as text), cast(:rights as json), cast(:permissions as json),
    cast(:created_by as uuid), {now}, {now} + cast(:expires as double precision) * interval '1 second'
where (cast(:tenant_id as text) is null
    or exists (select 1 from windlass_tenants t where t.id = :tenant_id and t.state <> 'deleted'))
    and (cast(:created_by as uuid) is null or exists (select 1 from maker))
returning id
