-- Finds lines that have jobs for this worker, tenants in turn from a cursor on, and the next due time.
-- It hops from line to line in the claim's index, and only as far as :most lines need: its cost is
-- the lines seen and the jobs that run in them, not the jobs that wait.
with recursive served as (
    (select queue from windlass_live where cast(:all_queues as boolean) order by queue limit 1)
    union all
    select (select l.queue from windlass_live l where l.queue > s.queue order by l.queue limit 1)
    from served s where s.queue is not null
),
queues as (
    select queue from {queues} q
    union all
    select queue from served where queue is not null
),
hops as (
    select q.queue, h.tenant_id, h.gate, h.wrapped, 1 as hop
    from queues q
    cross join lateral (
        (select l.tenant_id, l.gate, false as wrapped from windlass_live l
         where l.queue = q.queue and l.tenant_id > :cursor
         order by l.tenant_id, l.gate limit 1)
        union all
        (select l.tenant_id, l.gate, true from windlass_live l
         where l.queue = q.queue and l.tenant_id <= :cursor
         order by l.tenant_id, l.gate limit 1)
        order by wrapped limit 1
    ) h
    union all
    select h.queue, n.tenant_id, n.gate, n.wrapped, h.hop + 1
    from hops h
    cross join lateral (
        (select l.tenant_id, l.gate, h.wrapped from windlass_live l
         where l.queue = h.queue and (l.tenant_id, l.gate) > (h.tenant_id, h.gate)
             and (not h.wrapped or l.tenant_id <= :cursor)
         order by l.tenant_id, l.gate limit 1)
        union all
        (select l.tenant_id, l.gate, true from windlass_live l
         where not h.wrapped and l.queue = h.queue and l.tenant_id <= :cursor
         order by l.tenant_id, l.gate limit 1)
        order by wrapped limit 1
    ) n
),
-- Each limit inside keeps the planner from joining the other way round, which would hop to the end.
lines as (
    select h.queue, h.tenant_id, h.gate, h.hop, t.weight, t.max_running, d.max_concurrency,
        first_job.priority as first_priority, first_job.due_at as first_due_at, first_job.id as first_id
    from hops h
    cross join lateral (
        select weight, max_running from windlass_tenants
        where id = h.tenant_id and state = 'active' limit 1
    ) t
    left join lateral (
        select key, max_concurrency from windlass_definitions
        where key = h.gate and gate = h.gate and enabled and key = any(cast(:known_keys as text[])) limit 1
    ) d on true
    cross join lateral (
        select j.priority, j.due_at, j.id from windlass_live j
        where j.queue = h.queue and j.tenant_id = h.tenant_id and j.gate = h.gate
            and j.state = 'queued' and j.definition = any(cast(:known_keys as text[]))
            and (j.expires_at is null or j.expires_at > {now} or j.started_at is not null)
        order by j.priority, j.due_at, uuid_send(j.id) limit 1
    ) first_job
    where h.gate = '' or d.key is not null
    limit :most
)
select
    extract(epoch from (select min(due_at) from windlass_later where state = 'queued') - {now}) as next_due_in,
    l.queue, l.tenant_id, l.gate, l.weight, l.max_running, l.max_concurrency,
    l.first_priority, l.first_due_at, l.first_id
from (select 1) one left join lines l on true
order by l.hop, l.queue
