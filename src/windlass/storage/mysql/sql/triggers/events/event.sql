-- Tells one event.
select * from windlass_events where id = :id and (:tenant_id is null or tenant_id = :tenant_id)
