-- Uses up the invitation of a link, for the account of the name it is for; returns the role it
-- offers.
delete from windlass_invitations
where hash = :hash and expires_at > {now}
    and name = (select u.name from windlass_users u where u.id = :user_id)
    and (tenant_id = ''
        or exists (select 1 from windlass_tenants t
        where t.id = tenant_id and t.state <> 'deleted'))
returning tenant_id, name, role, permissions, created_at
