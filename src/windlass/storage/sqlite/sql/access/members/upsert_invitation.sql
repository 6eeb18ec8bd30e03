-- Offers a role to a name, in a tenant that is not deleted and in which the name has none. The link of an
-- offer before it is void.
insert into windlass_invitations (tenant_id, name, role, permissions, hash, created_at, expires_at)
select :tenant_id, :name, :role, :permissions, :hash, {now}, {now} + cast(:expires * 1000000 as integer)
where (:tenant_id = '' or exists (select 1 from windlass_tenants t where t.id = :tenant_id and t.state <> 'deleted'))
    and not exists (select 1 from windlass_members m join windlass_users u on u.id = m.user_id
        where m.tenant_id = :tenant_id and u.name = :name)
on conflict (tenant_id, name) do update set role = excluded.role, permissions = excluded.permissions,
    hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at
returning tenant_id, name, role, permissions, created_at
