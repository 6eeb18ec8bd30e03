-- Forgets some minutes of the histograms; what they tell since ever stays.
delete from windlass_histograms
where `minute` > '1970-01-01' and `minute` < {now} - interval round(:days * 86400000000) microsecond
order by `minute` limit :most;

select row_count() as pruned
