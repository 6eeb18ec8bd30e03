-- Gives a member of a tenant another role.
-- answer
select user_id from windlass_members where user_id = :user_id and tenant_id = :tenant_id for update;

update windlass_members
set role = :role, permissions = :permissions
where user_id = :user_id and tenant_id = :tenant_id
