-- Deletes some events that were matched long ago.
delete from windlass_events
where id < :before_id and matched_at < {now} - interval round(:days * 86400000000) microsecond
order by id limit :most;

select row_count() as pruned
