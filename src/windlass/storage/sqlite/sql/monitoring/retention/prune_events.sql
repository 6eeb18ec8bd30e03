-- Deletes some events that were matched long ago.

-- let past
select id from windlass_events
where id < :before_id and matched_at < {now} - :days * 86400000000
order by id limit :most;

-- answer
select count(*) as pruned from {past} p;

delete from windlass_events where id in (select id from {past} p)
