-- Removes the rows of workers not seen for a long time.

-- let unseen
select id from windlass_workers where last_seen_at < {now} - cast(round(:seconds * 1000000) as integer);

-- answer
select count(*) as forgotten from {unseen} u;

delete from windlass_workers where id in (select id from {unseen} u)
