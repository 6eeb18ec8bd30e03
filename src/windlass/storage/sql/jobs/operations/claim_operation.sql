-- Claims the bulk operation that waits longest, with a new token.
update windlass_operations set token = token + 1, taken_until = {now} + {seconds :seconds}
where id = (
    select id from windlass_operations where state = 'running' and taken_until <= {now}
    order by taken_until, token, id limit 1 {for update skip locked})
returning *
