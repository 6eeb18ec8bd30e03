-- Tells tokens, newest first.
select k.id, k.name, k.role, k.tenant_id, k.rights, k.permissions, k.created_by, k.created_at, k.expires_at, k.last_used_at, k.revoked_at
from windlass_tokens k
where (:tenant_id is null or k.tenant_id = :tenant_id) and (:before is null or k.id < :before)
order by k.id desc limit :most
