-- Deletes a dead-lettered job with everything that hangs on it.
with gone as (
    delete from windlass_ended
    where id = :id and state = 'dead_letter' and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
        and not exists (select 1 from windlass_parents p where p.parent_id = :id and not p.settled)
    returning id, tenant_id, queue, definition
),
a as (delete from windlass_attempts where job_id = any(select id from gone)),
b as (delete from windlass_transitions where job_id = any(select id from gone)),
c as (delete from windlass_logs where job_id = any(select id from gone)),
d as (delete from windlass_keys where job_id = any(select id from gone)),
e as (delete from windlass_parents where child_id = any(select id from gone)),
counted as (
    insert into windlass_deltas (at, tenant_id, queue, definition, dead_letter)
    select {now}, tenant_id, queue, definition, -1 from gone
)
select id from gone
