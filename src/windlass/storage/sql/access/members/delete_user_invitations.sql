-- Deletes the invitations for a user's name: of one tenant, or all.
delete from windlass_invitations
where name = (select u.name from windlass_users u where u.id = :user_id)
    and ({text :tenant_id} is null or tenant_id = :tenant_id)
