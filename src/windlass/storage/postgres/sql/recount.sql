-- The totals counted anew from the jobs themselves.
select tenant_id, queue, definition,
    count(*) filter (where state = 'pending') as pending,
    count(*) filter (where state = 'queued') as queued,
    count(*) filter (where state = 'running') as running,
    count(*) filter (where state = 'completed') as completed,
    count(*) filter (where state = 'canceled') as canceled,
    count(*) filter (where state = 'dead_letter') as dead_letter
from windlass_jobs
where cast(:tenant_id as text) is null or tenant_id = :tenant_id
group by tenant_id, queue, definition
