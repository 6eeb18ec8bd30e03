-- Tells one event.
select * from windlass_events where id = :id and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
