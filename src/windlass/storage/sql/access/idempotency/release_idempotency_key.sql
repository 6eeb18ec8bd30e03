-- Gives a key back under which nothing was done.
delete from windlass_answers where key_hash = :key_hash and holder = :holder and status is null
