-- Takes bulk operations from the processes that work on them, so that others continue at once.
update windlass_operations set token = token + :step, taken_until = {now} where state = 'running'
