-- Releases an idempotency key of a request that did nothing.
delete from windlass_answers where key_hash = :key_hash and holder = :holder and status is null
