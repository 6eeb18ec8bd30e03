-- Holds a bulk operation longer, for who still has its token; locks it until the transaction ends.
update windlass_operations
set taken_until = {now} + {seconds :seconds}
where id = :id and token = :token and state = 'running'
returning id, tenant_id, action, reason, actor, stop_requested_at
