-- Keeps what was answered under a key, for whoever still holds it.
update windlass_answers
set status = :status, body = :body, until = {now} + {seconds :keep}
where key_hash = :key_hash and holder = :holder and status is null
