-- Deletes a bulk operation that ended long ago.
delete from windlass_operations where id = (
    select id from (
        select id from windlass_operations where finished_at < {now} - {seconds :seconds}
        order by finished_at limit 1
    ) past
)
returning id
