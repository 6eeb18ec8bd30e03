-- Finds lines that have jobs for this worker, tenants in turn from a cursor on, and the next due time.
-- It hops from line to line in the claim's index: its cost is the lines seen and the jobs that run
-- in them, not the jobs that wait. `survey.py` runs these statements.

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

-- Which of these lines have something to claim. The inner limits keep that a look at one job.
select l.queue, l.tenant_id, l.gate, t.weight, t.max_running, d.max_concurrency
from {lines} l
straight_join windlass_tenants t force index (primary) on t.id = l.tenant_id and t.state = 'active'
left join windlass_definitions d
    on d.`key` = l.gate and d.gate = l.gate and d.enabled = 1 and d.`key` in :known_keys
where (l.gate = '' or d.`key` is not null)
    and (select 1 from windlass_live j force index (windlass_live_line)
         where j.queue = l.queue and j.tenant_id = l.tenant_id and j.gate = l.gate
            and j.state = 'queued' and j.definition in :known_keys
            and (j.expires_at is null or j.expires_at > {now} or j.started_at is not null)
         limit 1) = 1;

select timestampdiff(microsecond, {now}, min(due_at)) / 1000000 as next_due_in
from windlass_later where state = 'queued'
