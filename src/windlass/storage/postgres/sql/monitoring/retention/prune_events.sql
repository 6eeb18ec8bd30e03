-- Deletes some events that were matched long ago.
with gone as (
    delete from windlass_events where id in (
        select id from windlass_events
        where id < cast(:before_id as uuid)
            and matched_at < {now} - cast(:days as double precision) * interval '1 day'
        order by id limit :most)
    returning 1
)
select count(*) as pruned from gone
