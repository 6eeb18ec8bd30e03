-- Settles what pending jobs wait for that has ended already, and lets those in that wait no more.
-- A parent that is gone was not kept: it has completed, between this job's enqueue and now.
with over as (
    select p.child_id, p.parent_id, coalesce(e.state, 'completed') as state
    from {ids} i
    join windlass_parents p on p.child_id = i.id and not p.settled
    left join windlass_ended e on e.id = p.parent_id
    where e.id is not null or not exists (select 1 from windlass_jobs j where j.id = p.parent_id)
),
settled as (
    update windlass_parents p set settled = true
    from over o
    where p.child_id = o.child_id and p.parent_id = o.parent_id and not p.settled
        and (o.state = 'completed' or p.policy <> 'wait')
    returning p.child_id, p.policy = 'cancel' and o.state <> 'completed' as doomed
),
sums as (
    select i.id, count(s.child_id) as parents, coalesce(bool_or(s.doomed), false) as doomed
    from {ids} i left join settled s on s.child_id = i.id group by i.id
),
children as (
    update windlass_later k
    set unchecked = false,
        waits = k.waits - s.parents,
        state = case when k.waits <= s.parents and not k.held and not s.doomed
            and k.cancel_to is null then 'queued' else k.state end,
        queued_at = case when k.waits <= s.parents and not k.held and not s.doomed
            and k.cancel_to is null then {now} end,
        cancel_to = case when s.doomed then 'canceled' else k.cancel_to end,
        reason = case when s.doomed then 'a job it waited for did not complete' else k.reason end,
        updated_at = {now}
    from sums s
    where k.id = s.id and k.state = 'pending'
    returning k.id, k.tenant_id, k.queue, k.definition, k.state
),
counted as (
    insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued)
    select {now}, tenant_id, queue, definition, -count(*), count(*)
    from children where state = 'queued' group by tenant_id, queue, definition
)
select id, state from children
