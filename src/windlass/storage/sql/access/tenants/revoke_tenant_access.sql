-- Revokes access to a deleted tenant: tokens, roles and invitations, and the sessions of users who
-- have no role left.
update windlass_tokens set revoked_at = {now} where tenant_id = :tenant_id and revoked_at is null;

delete from windlass_sessions where user_id in (
    select u.id from windlass_users u join windlass_members m on m.user_id = u.id
    where m.tenant_id = :tenant_id and {false u.superadmin}
        and not exists (select 1 from windlass_members o
            join windlass_tenants t on t.id = o.tenant_id
            where o.user_id = u.id and t.state <> 'deleted')
);

delete from windlass_members where tenant_id = :tenant_id;

delete from windlass_invitations where tenant_id = :tenant_id
