-- All workers seen, and how long ago each was.
select w.*, {since last_seen_at} as age from windlass_workers w order by id
