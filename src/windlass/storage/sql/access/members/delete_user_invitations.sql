-- Takes back roles that were offered to the name of a user: in one tenant, or all of them.
delete from windlass_invitations
where name = (select u.name from windlass_users u where u.id = :user_id)
    and ({text :tenant_id} is null or tenant_id = :tenant_id)
