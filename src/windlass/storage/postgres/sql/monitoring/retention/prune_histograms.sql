-- Deletes some old minutes of the histograms; the lifetime totals stay.
with gone as (
    delete from windlass_histograms where ctid = any(array(
        select ctid from windlass_histograms
            where minute > to_timestamp(0)
            and minute < {now} - cast(:days as double precision) * interval '1 day' order by minute
            limit :most))
    returning 1
)
select count(*) as pruned from gone
