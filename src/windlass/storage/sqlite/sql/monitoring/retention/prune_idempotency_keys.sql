-- Forgets some answers that were kept long enough, and keys whose holder never answered.

-- let gone
select key_hash from windlass_answers where until <= {now} order by until limit :most;

-- answer
select count(*) as pruned from {gone} g;

delete from windlass_answers where key_hash in (select key_hash from {gone} g)
