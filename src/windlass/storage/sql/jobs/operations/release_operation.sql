-- Releases a bulk operation for other processes.
update windlass_operations set taken_until = {now}
where id = :id and token = :token and state = 'running'
