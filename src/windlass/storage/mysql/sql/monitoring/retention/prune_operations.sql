-- Forgets a bulk operation that ended long ago.
set @windlass_past = (select id from windlass_operations where finished_at < {now} - interval round(:seconds * 1000000) microsecond order by finished_at limit 1);

-- answer
select id from windlass_operations where id = @windlass_past;

delete from windlass_operations where id = @windlass_past
