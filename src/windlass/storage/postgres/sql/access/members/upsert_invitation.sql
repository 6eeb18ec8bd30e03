-- Offers a role to a name, in a tenant that is not deleted and in which the name has none. The link of an
-- offer before it is void.
insert into windlass_invitations (tenant_id, name, role, permissions, hash, created_at, expires_at)
select cast(:tenant_id as text), cast(:name as text), cast(:role as text), cast(:permissions as json), cast(:hash as text),
    {now}, {now} + cast(:expires as double precision) * interval '1 second'
where (:tenant_id = '' or exists (select 1 from windlass_tenants t where t.id = :tenant_id and t.state <> 'deleted'))
    and not exists (select 1 from windlass_members m join windlass_users u on u.id = m.user_id
        where m.tenant_id = :tenant_id and u.name = :name)
on conflict (tenant_id, name) do update set role = excluded.role, permissions = excluded.permissions,
    hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at
returning tenant_id, name, role, permissions, created_at
