-- Takes bulk operations away from whoever works on them; some process goes on with each at once.
update windlass_operations set token = token + :step, taken_until = {now} where state = 'running'
