-- For how many seconds the longest waiting job of each queue and tenant has been due. It hops
-- through the claim's index by tenant, gate and priority, :most hops per queue at most: its cost is
-- the lines
-- and the jobs that run, not the jobs that wait.
with recursive queues as (
    (select queue, 1 as number from windlass_live order by queue limit 1)
    union all
    select n.queue, q.number + 1 from queues q
    cross
        join lateral (select queue from windlass_live where queue > q.queue order by queue
        limit 1) n
    where q.number < :most
),
hops as (
    select q.queue, f.tenant_id, f.gate, f.priority, f.due_at, 1 as hop
    from queues q
    cross join lateral (
        select tenant_id, gate, priority, due_at from windlass_live
        where queue = q.queue and state = 'queued'
        order by tenant_id, gate, priority, due_at limit 1
    ) f
    union all
    select h.queue, n.tenant_id, n.gate, n.priority, n.due_at, h.hop + 1
    from hops h
    cross join lateral (
        select tenant_id, gate, priority, due_at from windlass_live
        where queue = h.queue and (tenant_id, gate, priority) > (h.tenant_id, h.gate, h.priority)
            and state = 'queued'
        order by tenant_id, gate, priority, due_at limit 1
    ) n
    where h.hop < :most
)
select queue, tenant_id,
    cast(max(extract(epoch from {now} - due_at)) as double precision) as age
from (
    select queue, tenant_id, due_at from hops
    union all
    -- Due, and not yet seen to be so.
    (select queue, tenant_id, due_at from windlass_later where state = 'queued' and due_at <= {now}
     order by due_at limit :most)
) d
group by queue, tenant_id
