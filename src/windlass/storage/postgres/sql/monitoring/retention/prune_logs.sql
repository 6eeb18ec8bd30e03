-- Deletes some log lines of one definition that are past their retention.
with gone as (
    delete from windlass_logs where ctid = any(array(
        select ctid from windlass_logs
        where definition = :definition
            and created_at < {now} - cast(:days as double precision) * interval '1 day'
        order by created_at limit :most))
    returning 1
)
select count(*) as pruned from gone
