-- Claims the bulk operation that waits longest, with a new token.
set @windlass_taken = null;

select id into @windlass_taken from windlass_operations
where state = 'running' and taken_until <= {now}
order by taken_until, token, id limit 1
for update skip locked;

update windlass_operations
set token = token + 1, taken_until = {now} + interval round(:seconds * 1000000) microsecond
    where id = @windlass_taken;

select * from windlass_operations where id = @windlass_taken
