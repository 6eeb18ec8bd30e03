-- Takes a user's role in a tenant away.
-- answer
select user_id from windlass_members where user_id = :user_id and tenant_id = :tenant_id for update;

delete from windlass_members
where user_id = :user_id and tenant_id = :tenant_id
