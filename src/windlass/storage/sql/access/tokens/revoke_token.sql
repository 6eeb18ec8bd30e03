-- Ends a token for good.
update windlass_tokens
set revoked_at = {now}
where id = :id and ({text :tenant_id} is null or tenant_id = :tenant_id) and revoked_at is null
returning id
