-- Renews the lease of a bulk operation, with its current token only; locks its row.
update windlass_operations
set taken_until = {now} + {seconds :seconds}
where id = :id and token = :token and state = 'running'
returning id, tenant_id, action, reason, actor, stop_requested_at
