-- Uses up the invitation of a link, if there is no account of its name; answers what was offered.
-- answer
select i.tenant_id, i.name, i.role, i.permissions, i.created_at from windlass_invitations i
where i.hash = :hash and i.expires_at > {now}
    and not exists (select 1 from windlass_users u where u.name = i.name)
    and (i.tenant_id = '' or exists (select 1 from windlass_tenants t where t.id = i.tenant_id and t.state <> 'deleted'))
for update;

delete from windlass_invitations
where hash = :hash and expires_at > {now}
    and not exists (select 1 from windlass_users u where u.name = windlass_invitations.name)
    and (tenant_id = '' or exists (select 1 from windlass_tenants t where t.id = tenant_id and t.state <> 'deleted'))
