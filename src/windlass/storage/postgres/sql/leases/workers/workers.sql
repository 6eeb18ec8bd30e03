-- All workers seen, and how long ago each was.
select w.*, extract(epoch from {now} - last_seen_at) as age from windlass_workers w order by id
