-- Offers another role by an invitation that can still be accepted; its link stays.
update windlass_invitations
set role = :role, permissions = {json :permissions}
where tenant_id = :tenant_id and name = :name and expires_at > {now}
returning tenant_id, name, role, permissions, created_at
