-- Forgets a bulk operation that ended long ago.
delete from windlass_operations where id in (
    select id from windlass_operations where finished_at < {now} - cast(:seconds as double precision) * interval '1 second' order by finished_at limit 1)
returning id
