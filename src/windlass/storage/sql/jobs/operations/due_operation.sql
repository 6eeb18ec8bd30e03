-- Returns a row if a bulk operation waits for a process to work on it.
select id from windlass_operations where state = 'running' and taken_until <= {now} limit 1
