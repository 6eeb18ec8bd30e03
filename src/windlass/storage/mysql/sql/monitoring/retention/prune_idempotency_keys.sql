-- Deletes some expired responses, and keys whose request never got one.
delete from windlass_answers where until <= {now} order by until limit :most;

select row_count() as pruned
