-- Holds a bulk operation longer, for who still has its token; locks it until the transaction ends.
-- answer
select id, tenant_id, action, reason, actor, stop_requested_at from windlass_operations where id = :id and token = :token and state = 'running' for update;

update windlass_operations
set taken_until = {now} + interval round(:seconds * 1000000) microsecond
where id = :id and token = :token and state = 'running'
