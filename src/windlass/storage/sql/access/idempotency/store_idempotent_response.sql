-- Stores the response under an idempotency key, for the request that still holds it.
update windlass_answers
set status = :status, body = :body, until = {now} + {seconds :keep}
where key_hash = :key_hash and holder = :holder and status is null
