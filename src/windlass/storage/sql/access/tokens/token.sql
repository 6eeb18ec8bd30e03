-- Returns a token by id: its hash, whether it is valid, and whether its use is to be noted again.
select k.id, k.name, k.role, k.tenant_id, k.rights, k.permissions, k.created_by, k.created_at,
    k.expires_at, k.last_used_at, k.revoked_at, k.hash,
    k.revoked_at is null and (k.expires_at is null or k.expires_at > {now})
        and (k.tenant_id is null or t.state <> 'deleted') as valid,
    k.last_used_at is null or k.last_used_at < {now} - {seconds :seconds} as stale
from windlass_tokens k left join windlass_tenants t on t.id = k.tenant_id
where k.id = :id
