-- Returns tokens, newest first; those that are revoked or expired only if asked for.
select k.id, k.name, k.role, k.tenant_id, k.rights, k.permissions, k.created_by, k.created_at,
    k.expires_at, k.last_used_at, k.revoked_at
from windlass_tokens k
where ({text :tenant_id} is null or k.tenant_id = :tenant_id)
    and ({uuid :before} is null or k.id < :before)
    and ({bool :ended} or (k.revoked_at is null and (k.expires_at is null or k.expires_at > {now})))
order by k.id desc limit :most
