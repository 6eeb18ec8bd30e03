-- Ends a bulk operation, for who still has its token.
update windlass_operations
set state = :state, finished_at = {now}
where id = :id and token = :token and state = 'running'
returning id
