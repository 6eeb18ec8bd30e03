-- Asks a bulk operation to stop.
-- answer
select id from windlass_operations where id = :id and (:tenant_id is null or tenant_id = :tenant_id) and state = 'running' and stop_requested_at is null for update;

update windlass_operations
set stop_requested_at = {now}, taken_until = {now}
where id = :id and (:tenant_id is null or tenant_id = :tenant_id) and state = 'running' and stop_requested_at is null
