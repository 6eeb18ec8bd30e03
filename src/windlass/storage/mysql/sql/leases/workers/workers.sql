-- All workers seen, and how long ago each was.
select w.*, timestampdiff(microsecond, last_seen_at, {now}) / 1000000 as age from windlass_workers w order by id
