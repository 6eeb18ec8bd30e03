-- Deletes an ended job, only one in a state if that is said, with everything that hangs on it.
select max(id) into @windlass_gone from windlass_ended
where id = :id and (:only is null or state = :only)
    and (:tenant_id is null or tenant_id = :tenant_id)
    and not exists (select 1 from windlass_parents p force index (windlass_parents_parent)
        where p.parent_id = :id and p.settled = 0)
for update;

insert into windlass_deltas (at, tenant_id, queue, definition, completed, canceled, dead_letter)
select {now}, tenant_id, queue, definition, -(state = 'completed'), -(state = 'canceled'),
    -(state = 'dead_letter')
from windlass_ended where id = @windlass_gone;

delete from windlass_attempts where job_id = @windlass_gone;

delete from windlass_transitions where job_id = @windlass_gone;

delete from windlass_logs where job_id = @windlass_gone;

delete from windlass_keys where job_id = @windlass_gone;

delete from windlass_done where job_id = @windlass_gone;

delete from windlass_parents where child_id = @windlass_gone;

-- answer
select id from windlass_ended where id = @windlass_gone;

delete from windlass_ended where id = @windlass_gone
