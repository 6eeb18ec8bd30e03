-- The totals as they stand, and as counted anew from the jobs themselves, in one look.
select false as anew, tenant_id, queue, definition, sum(pending) as pending, sum(queued) as queued,
    sum(running) as running, sum(completed) as completed, sum(canceled) as canceled,
    sum(dead_letter) as dead_letter
from (
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter from windlass_counts
    union all
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter from windlass_deltas
) c
where cast(:tenant_id as text) is null or tenant_id = :tenant_id
group by tenant_id, queue, definition
union all
select true, tenant_id, queue, definition,
    count(*) filter (where state = 'pending') as pending,
    count(*) filter (where state = 'queued') as queued,
    count(*) filter (where state = 'running') as running,
    count(*) filter (where state = 'completed') as completed,
    count(*) filter (where state = 'canceled') as canceled,
    count(*) filter (where state = 'dead_letter') as dead_letter
from windlass_jobs
where cast(:tenant_id as text) is null or tenant_id = :tenant_id
group by tenant_id, queue, definition
