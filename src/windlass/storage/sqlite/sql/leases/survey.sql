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
'key:' || d.key || substr(n.gate, instr(n.gate, char(30)));

with recursive served as (
    select min(queue) as queue from windlass_live where state = 'queued' and :all_queues
    union all
    select (select min(l.queue) from windlass_live l where l.state = 'queued' and l.queue > s.queue)
    from served s where s.queue is not null
),
queues as (
    select s.queue from (
        select queue from {queues} q
        union all
        select queue from served where queue is not null
    ) s
    where not exists (select 1 from windlass_queues p
        where p.name = s.queue and p.paused_at is not null)
),
running_jobs as materialized (
    select h.name, count(*) as jobs from windlass_limits l
    cross join windlass_holds h on h.name = l.name
    group by h.name
),
started_attempts as materialized (
    select s.name, sum(s.started) as jobs from windlass_limits l
    cross join windlass_starts s on s.name = l.name and s.until > {now} group by s.name
),
-- A hop is the row of the first job of a line. The next one is looked for by gate, then by tenant:
-- one comparison of both would walk through all jobs of the line before.
hops as (
    select 1 as hop, coalesce(
        (select l.rowid from windlass_live l
         where l.state = 'queued' and l.queue = q.queue and l.tenant_id > :cursor
         order by l.tenant_id, l.gate limit 1),
        (select l.rowid from windlass_live l
         where l.state = 'queued' and l.queue = q.queue and l.tenant_id <= :cursor
         order by l.tenant_id, l.gate limit 1)) as row
    from queues q
    union all
    select h.hop + 1, coalesce(
        (select l.rowid from windlass_live l
         where l.state = 'queued' and l.queue = n.queue and l.tenant_id = n.tenant_id
             and l.gate > n.gate
         order by l.gate limit 1),
        case when n.tenant_id <= :cursor then
            (select l.rowid from windlass_live l
             where l.state = 'queued' and l.queue = n.queue
                 and l.tenant_id > n.tenant_id and l.tenant_id <= :cursor
             order by l.tenant_id, l.gate limit 1)
        else coalesce(
            (select l.rowid from windlass_live l
             where l.state = 'queued' and l.queue = n.queue and l.tenant_id > n.tenant_id
             order by l.tenant_id, l.gate limit 1),
            (select l.rowid from windlass_live l
             where l.state = 'queued' and l.queue = n.queue and l.tenant_id <= :cursor
             order by l.tenant_id, l.gate limit 1)) end)
    from hops h cross join windlass_live n on n.rowid = h.row
),
-- Cross joins keep the order, and so let the limit end the hopping.
-- A gate names the definition, perhaps a version of its payload, and perhaps a key.
lines as (
    select n.queue, n.tenant_id, n.gate, h.hop, t.weight,
        ld.name as definition_limit, lt.name as tenant_limit, lq.name as queue_limit
    from hops h
    cross join windlass_live n on n.rowid = h.row
    cross join windlass_tenants t on t.id = n.tenant_id and t.state = 'active'
    left join windlass_definitions d on n.gate <> '' and d.key = n.definition
        and (d.gate = n.gate or d.key <> n.gate) and d.enabled
        and substr(n.gate, 1, instr(n.gate || char(30), char(30)) - 1) in (select value
            from json_each(:known_keys))
    left join windlass_limits ld on ld.name = 'definition:' || d.key
    left join windlass_limits lt on lt.name = 'tenant:' || n.tenant_id
    left join windlass_limits lq on lq.name = 'queue:' || n.queue
    where (n.gate = '' or d.key is not null)
        and not exists (
            select 1 from running_jobs r
            where r.name = ld.name and r.jobs >= ld.max_running
                or r.name = lt.name and r.jobs >= lt.max_running
                or r.name = lq.name and r.jobs >= lq.max_running)
        and not exists (
            select 1 from started_attempts b
            where b.name = ld.name and b.jobs >= ld.rate_count)
        and (ld.max_per_key is null or instr(n.gate, char(30)) = 0 or ld.max_per_key > (
            select count(*) from windlass_holds k
            where k.name = {limit_key}))
        and (ld.key_rate_count is null or instr(n.gate, char(30)) = 0 or ld.key_rate_count > (
            select coalesce(sum(s.started), 0) from windlass_starts s
            where s.name = {limit_key}
                and s.until > {now}))
        and exists (
            select 1 from windlass_live j
            where j.state = 'queued' and j.queue = n.queue and j.tenant_id = n.tenant_id
                and j.gate = n.gate
                and j.definition in (select value from json_each(:known_keys))
                and (j.expires_at is null or j.expires_at > {now} or j.started_at is not null))
    limit :most
)
select
    ((select min(due_at) from windlass_later where state = 'queued')
        - {now}) / 1000000.0 as next_due_in,
    l.queue, l.tenant_id, l.gate, l.weight, l.definition_limit, l.tenant_limit, l.queue_limit
from (select 1) one left join lines l on true
order by l.hop, l.queue
