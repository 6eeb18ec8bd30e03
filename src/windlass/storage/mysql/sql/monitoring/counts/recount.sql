-- The totals as they stand, and as counted anew from the jobs themselves, in one look.
select 0 as anew, tenant_id, queue, definition, cast(sum(pending) as signed) as pending,
    cast(sum(queued) as signed) as queued, cast(sum(running) as signed) as running,
    cast(sum(completed) as signed) as completed, cast(sum(canceled) as signed) as canceled,
    cast(sum(dead_letter) as signed) as dead_letter
from (
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
    from windlass_counts where :tenant_id is null or tenant_id = :tenant_id
    union all
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
    from windlass_deltas where :tenant_id is null or tenant_id = :tenant_id
) c
group by tenant_id, queue, definition
union all
select 1, tenant_id, queue, definition,
    cast(sum(state = 'pending') as signed) as pending,
    cast(sum(state = 'queued') as signed) as queued,
    cast(sum(state = 'running') as signed) as running,
    cast(sum(state = 'completed') as signed) as completed,
    cast(sum(state = 'canceled') as signed) as canceled,
    cast(sum(state = 'dead_letter') as signed) as dead_letter
from (
    select tenant_id, queue, definition, state from windlass_live
    union all
    select tenant_id, queue, definition, state from windlass_later
    union all
    select tenant_id, queue, definition, state from windlass_ended
) j
where :tenant_id is null or tenant_id = :tenant_id
group by tenant_id, queue, definition
