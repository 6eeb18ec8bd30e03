-- Deletes some expired responses, and keys whose request never got one.

-- let gone
select key_hash from windlass_answers where until <= {now} order by until limit :most;

-- answer
select count(*) as pruned from {gone} g;

delete from windlass_answers where key_hash in (select key_hash from {gone} g)
