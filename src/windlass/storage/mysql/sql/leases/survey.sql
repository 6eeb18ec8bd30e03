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
-- `survey.py` runs these statements, the second as often as it hops.

-- let limit_key
concat('key:', l.definition, substr(l.gate, instr(l.gate, char(30))));

-- The next queue with jobs in it.
select queue from windlass_live force index (windlass_live_line)
where queue > :queue order by queue limit 1;

-- The next gates of a tenant, then the next tenants: a few entries each, often of several lines.
(select tenant_id, gate from windlass_live force index (windlass_live_line)
 where queue = :queue and tenant_id = :tenant_id and gate > :gate
 order by gate limit 20)
union all
(select tenant_id, gate from windlass_live force index (windlass_live_line)
 where queue = :queue and tenant_id > :tenant_id
 order by tenant_id, gate limit 20);

-- The lines that have a job to claim and capacity; the inner limits make that a look at one job.
select l.queue, l.tenant_id, l.gate, t.weight,
    ld.name as definition_limit, lt.name as tenant_limit, lq.name as queue_limit
from {lines} l
straight_join windlass_tenants t force index (primary) on t.id = l.tenant_id and t.state = 'active'
left join windlass_definitions d
    on d.`key` = l.definition and (d.gate = l.gate or d.`key` <> l.gate) and d.enabled = 1
        and substring_index(l.gate, char(30), 1) in :known_keys
left join windlass_limits ld force index (primary) on ld.name = concat('definition:', d.`key`)
left join windlass_limits lt force index (primary) on lt.name = concat('tenant:', l.tenant_id)
left join windlass_limits lq force index (primary) on lq.name = concat('queue:', l.queue)
where (l.gate = '' or d.`key` is not null)
    and (select 1 from windlass_queues p force index (primary)
         where p.name = l.queue and p.paused_at is not null limit 1) is null
    and (ld.max_running is null
        or ld.max_running > (select count(*)
        from windlass_holds h force index (windlass_holds_name) where h.name = ld.name))
    and (lt.max_running is null
        or lt.max_running > (select count(*)
        from windlass_holds h force index (windlass_holds_name) where h.name = lt.name))
    and (lq.max_running is null
        or lq.max_running > (select count(*)
        from windlass_holds h force index (windlass_holds_name) where h.name = lq.name))
    and (ld.max_per_key is null or instr(l.gate, char(30)) = 0 or ld.max_per_key > (
        select count(*) from windlass_holds h force index (windlass_holds_name)
            where h.name = {limit_key}))
    and (ld.rate_count is null or ld.rate_count > (
        select coalesce(sum(s.started), 0) from windlass_starts s force index (primary)
            where s.name = ld.name and s.until > {now}))
    and (ld.key_rate_count is null or instr(l.gate, char(30)) = 0 or ld.key_rate_count > (
        select coalesce(sum(s.started), 0) from windlass_starts s force index (primary)
        where s.name = {limit_key}
            and s.until > {now}))
    and (select 1 from windlass_live j force index (windlass_live_line)
         where j.queue = l.queue and j.tenant_id = l.tenant_id and j.gate = l.gate
            and j.state = 'queued' and j.definition in :known_keys
            and (j.expires_at is null or j.expires_at > {now} or j.started_at is not null)
         limit 1) = 1;

select timestampdiff(microsecond, {now}, min(due_at)) / 1000000 as next_due_in
from windlass_later where state = 'queued'
