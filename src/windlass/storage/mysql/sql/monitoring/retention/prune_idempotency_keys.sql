-- Forgets some answers that were kept long enough, and keys whose holder never answered.
delete from windlass_answers where until <= {now} order by until limit :most;

select row_count() as pruned
