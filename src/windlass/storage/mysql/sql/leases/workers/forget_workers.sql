-- Removes the rows of workers not seen for a long time.
delete from windlass_workers
where last_seen_at < {now} - interval round(:seconds * 1000000) microsecond;

select row_count() as forgotten
