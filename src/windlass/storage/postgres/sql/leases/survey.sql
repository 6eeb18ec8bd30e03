-- Finds lines that have jobs for this worker, tenants in turn from a cursor on, and the next due
-- time.
--
-- line      the queued jobs of one queue, tenant and gate, in the order of priority, due time, id
-- gate      '' for a definition without limits, else its key, perhaps with a payload version and a
--           limit key (behind the character 30): jobs that a limit may stop stand apart by it
-- capacity  how much a limit still allows. Full lines are skipped here, or they would be all that a
--           survey finds; running jobs and starts are counted once per limit, keys, of which there
--           may be very many, one by one
-- hop       one step in the claim's index to the first job of the next line: the cost is the lines
--           seen and the jobs that run in them, not the jobs that wait
-- cursor    the last tenant served: its successors come first, then the tenants up to it

-- let limit_key
'key:' || d.key || substr(h.gate, strpos(h.gate, chr(30)));

with recursive served as (
    (select queue from windlass_live where cast(:all_queues as boolean) order by queue limit 1)
    union all
    select (select l.queue from windlass_live l where l.queue > s.queue order by l.queue limit 1)
    from served s where s.queue is not null
),
queues as (
    select s.queue from (
        select queue from {queues} q
        union all
        select queue from served where queue is not null
    ) s
    where not exists (select from windlass_queues p
        where p.name = s.queue and p.paused_at is not null)
),
running_jobs as materialized (
    select h.name, count(*) as jobs from windlass_limits l join windlass_holds h on h.name = l.name
        group by h.name
),
started_attempts as materialized (
    select s.name, sum(s.started) as jobs from windlass_limits l
    join windlass_starts s on s.name = l.name and s.until > {now} group by s.name
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
-- The inner limits fix the join order: the other way round, the hops would go on to the end.
lines as (
    select h.queue, h.tenant_id, h.gate, h.hop, t.weight,
        ld.name as definition_limit, lt.name as tenant_limit, lq.name as queue_limit,
        first_job.priority as first_priority, first_job.due_at as first_due_at,
        first_job.id as first_id
    from hops h
    cross join lateral (
        select weight from windlass_tenants where id = h.tenant_id and state = 'active' limit 1
    ) t
    -- A gate names the definition, perhaps a version of its payload, and perhaps a key.
    left join lateral (
        select key from windlass_definitions
        where h.gate <> '' and key = split_part(split_part(h.gate, chr(30), 1), chr(31), 1)
            and (gate = h.gate or key <> h.gate) and enabled
            and split_part(h.gate, chr(30), 1) = any(cast(:known_keys as text[])) limit 1
    ) d on true
    left join lateral (
        select * from windlass_limits where name = 'definition:' || d.key limit 1
    ) ld on true
    left join lateral (
        select * from windlass_limits where name = 'tenant:' || h.tenant_id limit 1
    ) lt on true
    left join lateral (
        select * from windlass_limits where name = 'queue:' || h.queue limit 1
    ) lq on true
    cross join lateral (
        select j.priority, j.due_at, j.id from windlass_live j
        where j.queue = h.queue and j.tenant_id = h.tenant_id and j.gate = h.gate
            and j.state = 'queued' and j.definition = any(cast(:known_keys as text[]))
            and (j.expires_at is null or j.expires_at > {now} or j.started_at is not null)
        order by j.priority, j.due_at, uuid_send(j.id) limit 1
    ) first_job
    where (h.gate = '' or d.key is not null)
        and not exists (
            select from running_jobs r
            where r.name = ld.name and r.jobs >= ld.max_running
                or r.name = lt.name and r.jobs >= lt.max_running
                or r.name = lq.name and r.jobs >= lq.max_running)
        and not exists (
            select from started_attempts b
            where b.name = ld.name and b.jobs >= ld.rate_count)
        and (ld.max_per_key is null or strpos(h.gate, chr(30)) = 0 or ld.max_per_key > (
            select count(*) from windlass_holds k
            where k.name = {limit_key}))
        and (ld.key_rate_count is null or strpos(h.gate, chr(30)) = 0 or ld.key_rate_count > (
            select coalesce(sum(s.started), 0) from windlass_starts s
            where s.name = {limit_key}
                and s.until > {now}))
    limit :most
)
select
    extract(epoch from
        (select min(due_at) from windlass_later where state = 'queued') - {now}) as next_due_in,
    l.queue, l.tenant_id, l.gate, l.weight, l.definition_limit, l.tenant_limit, l.queue_limit,
    l.first_priority, l.first_due_at, l.first_id
from (select 1) one left join lines l on true
order by l.hop, l.queue
