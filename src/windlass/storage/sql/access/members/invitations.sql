-- Returns the roles in tenants that are offered and can still be accepted, by tenant and name.
select tenant_id, name, role, permissions, created_at from windlass_invitations
where tenant_id <> '' and ({text :tenant_id} is null or tenant_id = :tenant_id)
    and ({text :name} is null or name = :name)
    and expires_at > {now}
order by tenant_id, name limit :most
