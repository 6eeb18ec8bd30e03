-- Deletes some minutes long past; the totals stay.
delete from windlass_minutes
where `minute` < {now} - interval round(:days * 86400000000) microsecond
order by `minute` limit :most;

select row_count() as pruned
