-- Deletes a bulk operation that ended long ago.
-- let past
select id from windlass_operations where finished_at < {now} - cast(:seconds * 1000000 as integer)
order by finished_at limit 1;

delete from windlass_operation_items where operation_id in (select id from {past} p);
delete from windlass_operations where id in (select id from {past} p) returning id
