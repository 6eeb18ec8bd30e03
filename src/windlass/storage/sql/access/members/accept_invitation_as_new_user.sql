-- Uses up the invitation of a link, if there is no account of its name; returns the role it offers.
delete from windlass_invitations
where hash = :hash and expires_at > {now}
    and not exists (select 1 from windlass_users u where u.name = windlass_invitations.name)
    and (tenant_id = ''
        or exists (select 1 from windlass_tenants t
        where t.id = tenant_id and t.state <> 'deleted'))
returning tenant_id, name, role, permissions, created_at
