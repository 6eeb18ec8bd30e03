-- Deletes some old minutes of the histograms; the lifetime totals stay.
delete from windlass_histograms
where `minute` > '1970-01-01' and `minute` < {now} - interval round(:days * 86400000000) microsecond
order by `minute` limit :most;

select row_count() as pruned
