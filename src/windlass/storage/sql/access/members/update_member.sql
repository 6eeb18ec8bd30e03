-- Gives a member of a tenant another role.
update windlass_members
set role = :role, permissions = {json :permissions}
where user_id = :user_id and tenant_id = :tenant_id
returning user_id
