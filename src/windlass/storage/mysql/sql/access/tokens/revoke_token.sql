-- Ends a token for good.
-- answer
select id from windlass_tokens where id = :id and (:tenant_id is null or tenant_id = :tenant_id) and revoked_at is null for update;

update windlass_tokens
set revoked_at = {now}
where id = :id and (:tenant_id is null or tenant_id = :tenant_id) and revoked_at is null
