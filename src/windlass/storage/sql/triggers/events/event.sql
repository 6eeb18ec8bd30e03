-- Returns one event.
select * from windlass_events
where id = :id and ({text :tenant_id} is null or tenant_id = :tenant_id)
