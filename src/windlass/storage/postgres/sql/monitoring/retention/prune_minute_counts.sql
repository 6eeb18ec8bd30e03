-- Deletes some minutes long past; the totals stay.
with gone as (
    delete from windlass_minutes where ctid = any(array(
        select ctid from windlass_minutes
            where minute < {now} - cast(:days as double precision) * interval '1 day'
            order by minute limit :most))
    returning 1
)
select count(*) as pruned from gone
