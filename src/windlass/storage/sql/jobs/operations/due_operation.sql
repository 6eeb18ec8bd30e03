-- Tells whether a bulk operation waits for somebody to work on it.
select id from windlass_operations where state = 'running' and taken_until <= {now} limit 1
