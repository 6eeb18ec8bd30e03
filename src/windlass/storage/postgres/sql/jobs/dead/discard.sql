-- Deletes an ended job, only one in a state if that is said, with everything that hangs on it.
with gone as (
    delete from windlass_ended
    where id = :id and (cast(:only as text) is null or state = :only)
        and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
        and not exists (select 1 from windlass_parents p where p.parent_id = :id and not p.settled)
    returning id, tenant_id, queue, definition, state
),
a as (delete from windlass_attempts where job_id = any(select id from gone)),
b as (delete from windlass_transitions where job_id = any(select id from gone)),
c as (delete from windlass_logs where job_id = any(select id from gone)),
d as (delete from windlass_keys where job_id = any(select id from gone)),
f as (delete from windlass_done where job_id = any(select id from gone)),
e as (delete from windlass_parents where child_id = any(select id from gone)),
counted as (
    insert into windlass_deltas (at, tenant_id, queue, definition, completed, canceled, dead_letter)
    select {now}, tenant_id, queue, definition, -cast(state = 'completed' as integer),
        -cast(state = 'canceled' as integer), -cast(state = 'dead_letter' as integer)
    from gone
)
select id from gone
