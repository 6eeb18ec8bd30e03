-- Deletes some ended jobs of one definition that are past retention and that nothing waits for,
-- with everything that hangs on them. Cheap enough to run beside workers: it is capped.
with past as (
    (select id from windlass_ended
     where definition = :definition and state = any(array['completed', 'canceled', 'dead_letter'])
        and id < cast(:before_id as uuid)
            and finished_at < {now} - cast(:days as double precision) * interval '1 day'
        and not (cast(:spare_dead as boolean) and state = 'dead_letter')
        and not exists (select 1 from windlass_parents p
            where p.parent_id = windlass_ended.id and not p.settled)
     order by id limit :most)
),
gone as (
    delete from windlass_ended where id = any(array(select id from past))
        returning id, tenant_id, queue, definition, state
),
a as (delete from windlass_attempts where job_id = any(array(select id from gone))),
b as (delete from windlass_transitions where job_id = any(array(select id from gone))),
c as (delete from windlass_logs where job_id = any(array(select id from gone))),
d as (delete from windlass_keys where job_id = any(array(select id from gone))),
f as (delete from windlass_done where job_id = any(array(select id from gone))),
e as (delete from windlass_parents where child_id = any(array(select id from gone))),
counted as (
    insert into windlass_deltas (at, tenant_id, queue, definition, completed, canceled, dead_letter)
    select {now}, tenant_id, queue, definition, -count(*) filter (where state = 'completed'),
        -count(*) filter (where state = 'canceled'), -count(*) filter (where state = 'dead_letter')
    from gone group by tenant_id, queue, definition
)
select count(*) as pruned from gone
