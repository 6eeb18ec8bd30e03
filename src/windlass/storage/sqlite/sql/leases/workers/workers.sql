-- All workers seen, and how long ago each was.
select w.*, ({now} - last_seen_at) / 1000000.0 as age from windlass_workers w order by id
