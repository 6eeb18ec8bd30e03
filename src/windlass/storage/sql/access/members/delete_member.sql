-- Removes a member of a tenant.
delete from windlass_members
where user_id = :user_id and tenant_id = :tenant_id
returning user_id
