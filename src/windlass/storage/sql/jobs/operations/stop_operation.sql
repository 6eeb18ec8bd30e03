-- Asks a bulk operation to stop.
update windlass_operations
set stop_requested_at = {now}, taken_until = {now}
where id = :id and ({text :tenant_id} is null or tenant_id = :tenant_id) and state = 'running'
    and stop_requested_at is null
returning id
