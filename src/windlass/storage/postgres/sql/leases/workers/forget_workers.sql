-- Removes the rows of workers not seen for a long time.
with gone as (
    delete from windlass_workers
    where last_seen_at < {now} - cast(:seconds as double precision) * interval '1 second'
    returning 1
)
select count(*) as forgotten from gone
