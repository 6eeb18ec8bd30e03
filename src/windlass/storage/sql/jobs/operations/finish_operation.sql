-- Ends a bulk operation, with its current token only.
update windlass_operations
set state = :state, finished_at = {now}
where id = :id and token = :token and state = 'running'
returning id
