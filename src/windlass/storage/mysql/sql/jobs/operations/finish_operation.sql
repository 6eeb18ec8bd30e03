-- Ends a bulk operation, for who still has its token.
-- answer
select id from windlass_operations where id = :id and token = :token and state = 'running' for update;

update windlass_operations
set state = :state, finished_at = {now}
where id = :id and token = :token and state = 'running'
