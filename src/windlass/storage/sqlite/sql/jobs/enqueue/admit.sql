-- Settles what pending jobs wait for that has ended already, and lets those in that wait no more.
-- A parent that is gone was not kept: it has completed, between this job's enqueue and now.

-- let edges
select p.child_id, p.parent_id, p.policy = 'cancel'
    and coalesce(e.state, 'completed') <> 'completed' as doomed
from {ids} i
cross join windlass_parents p on p.child_id = i.id and not p.settled
left join windlass_ended e on e.id = p.parent_id
where (coalesce(e.state, 'completed') = 'completed' or p.policy <> 'wait')
    and (e.id is not null or not exists (select 1 from windlass_jobs j where j.id = p.parent_id));

-- let free
k.waits <= s.parents and not k.held and not s.doomed and k.cancel_to is null;

-- let sums
select i.id, count(e.child_id) as parents, coalesce(max(e.doomed), 0) as doomed
from {ids} i left join {edges} e on e.child_id = i.id group by i.id;

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued)
select {now}, k.tenant_id, k.queue, k.definition, -count(*), count(*)
from {sums} s cross join windlass_later k on k.id = s.id
where k.state = 'pending' and {free}
group by k.tenant_id, k.queue, k.definition;

-- answer
update windlass_later as k
set unchecked = 0,
    waits = k.waits - s.parents,
    state = case when {free} then 'queued' else k.state end,
    queued_at = case when {free} then {now} end,
    cancel_to = case when s.doomed then 'canceled' else k.cancel_to end,
    reason = case when s.doomed then 'a job it waited for did not complete' else k.reason end,
    updated_at = {now}
from {sums} s
where k.id = s.id and k.state = 'pending'
returning id, state;

update windlass_parents set settled = 1
where (child_id, parent_id) in (select child_id, parent_id from {edges} e)
