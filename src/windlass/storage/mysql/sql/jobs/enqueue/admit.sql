-- Settles what pending jobs wait for that has ended already, and lets those in that wait no more.
-- A parent that is gone was not kept: it has completed, between this job's enqueue and now.

-- let settled
select child_id, parent_id, doomed from json_table(@windlass_settled, '$[*]' columns (
    child_id char(36) character set ascii collate ascii_bin path '$[0]',
    parent_id char(36) character set ascii collate ascii_bin path '$[1]',
    doomed tinyint path '$[2]')) n;

-- let children
select id, parents, doomed, admitted from json_table(@windlass_children, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$[0]', parents integer path '$[1]',
    doomed tinyint path '$[2]', admitted tinyint path '$[3]')) n;

select coalesce(json_arrayagg(json_array(p.child_id, p.parent_id,
    p.policy = 'cancel' and coalesce(e.state, 'completed') <> 'completed')),
        '[]') into @windlass_settled
from {ids} i
straight_join windlass_parents p force index (primary) on p.child_id = i.id
left join windlass_ended e on e.id = p.parent_id
left join windlass_live a on a.id = p.parent_id
left join windlass_later b on b.id = p.parent_id
where p.settled = 0 and a.id is null and b.id is null
    and (coalesce(e.state, 'completed') = 'completed' or p.policy <> 'wait');

select coalesce(json_arrayagg(json_array(k.id, s.parents, s.doomed,
    k.waits <= s.parents and k.held = 0 and s.doomed = 0 and k.cancel_to is null)),
        '[]') into @windlass_children
from (
    select i.id, count(n.child_id) as parents, coalesce(max(n.doomed), 0) as doomed
    from {ids} i left join {settled} n on n.child_id = i.id group by i.id order by i.id
) s
straight_join windlass_later k force index (primary) on k.id = s.id
where k.state = 'pending'
for update;

update {settled} s
straight_join windlass_parents p force index (primary) on p.child_id = s.child_id
    and p.parent_id = s.parent_id
set p.settled = 1;

update {children} c
straight_join windlass_later k force index (primary) on k.id = c.id
set k.unchecked = 0,
    k.waits = k.waits - c.parents,
    k.state = case when c.admitted = 1 then 'queued' else k.state end,
    k.queued_at = case when c.admitted = 1 then {now} end,
    k.cancel_to = case when c.doomed = 1 then 'canceled' else k.cancel_to end,
    k.reason = case when c.doomed = 1 then 'a job it waited for did not complete' else k.reason end,
    k.updated_at = {now};

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued)
select {now}, k.tenant_id, k.queue, k.definition, -count(*), count(*)
from {children} c straight_join windlass_later k force index (primary) on k.id = c.id
where c.admitted = 1
group by k.tenant_id, k.queue, k.definition;

select k.id, k.state
from {children} c straight_join windlass_later k force index (primary) on k.id = c.id
