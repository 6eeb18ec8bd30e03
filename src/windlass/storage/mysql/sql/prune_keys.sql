-- Forgets keys of ended jobs whose window has passed.
delete from windlass_keys where open = 0 and until <= {now} order by until limit :most;

select row_count() as pruned
