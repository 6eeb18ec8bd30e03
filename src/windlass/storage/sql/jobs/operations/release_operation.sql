-- Lets others work on a bulk operation.
update windlass_operations set taken_until = {now}
where id = :id and token = :token and state = 'running'
