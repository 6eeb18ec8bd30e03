-- For how many seconds the longest waiting job of each queue and tenant has been due. It hops
-- through the claim's index by tenant, gate and priority, :most hops per queue at most: its cost is
-- the lines,
-- not the jobs.
with recursive queues as (
    select min(queue) as queue from windlass_live where state = 'queued'
    union all
    select (select min(l.queue) from windlass_live l where l.state = 'queued' and l.queue > q.queue)
    from queues q where q.queue is not null
    limit :most
),
hops as (
    select 1 as hop, (
        select l.rowid from windlass_live l where l.state = 'queued' and l.queue = q.queue
        order by l.tenant_id, l.gate, l.priority, l.due_at limit 1) as row
    from queues q where q.queue is not null
    union all
    select h.hop + 1, coalesce(
        (select l.rowid from windlass_live l
         where l.state = 'queued' and l.queue = n.queue and l.tenant_id = n.tenant_id
             and l.gate = n.gate
             and l.priority > n.priority
         order by l.priority, l.due_at limit 1),
        (select l.rowid from windlass_live l
         where l.state = 'queued' and l.queue = n.queue and l.tenant_id = n.tenant_id
             and l.gate > n.gate
         order by l.gate, l.priority, l.due_at limit 1),
        (select l.rowid from windlass_live l
         where l.state = 'queued' and l.queue = n.queue and l.tenant_id > n.tenant_id
         order by l.tenant_id, l.gate, l.priority, l.due_at limit 1))
    from hops h cross join windlass_live n on n.rowid = h.row
    where h.hop < :most
)
select queue, tenant_id, max(({now} - due_at) / 1000000.0) as age from (
    select n.queue, n.tenant_id, n.due_at from hops h cross join windlass_live n on n.rowid = h.row
    union all
    -- Due, and not yet seen to be so.
    select queue, tenant_id, due_at from (
        select queue, tenant_id, due_at from windlass_later
        where state = 'queued' and due_at <= {now}
        order by due_at limit :most)
) d
group by queue, tenant_id
