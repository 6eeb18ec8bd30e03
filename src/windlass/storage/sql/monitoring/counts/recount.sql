-- The totals as they stand, and as counted anew from the jobs themselves, in one look.
select false as anew, tenant_id, queue, definition, {sum pending} as pending,
    {sum queued} as queued,
    {sum running} as running, {sum completed} as completed, {sum canceled} as canceled,
    {sum dead_letter} as dead_letter
from (
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
        from windlass_counts
    union all
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
        from windlass_deltas
) c
where {text :tenant_id} is null or tenant_id = :tenant_id
group by tenant_id, queue, definition
union all
select true, tenant_id, queue, definition,
    count(case when state = 'pending' then 1 end) as pending,
    count(case when state = 'queued' then 1 end) as queued,
    count(case when state = 'running' then 1 end) as running,
    count(case when state = 'completed' then 1 end) as completed,
    count(case when state = 'canceled' then 1 end) as canceled,
    count(case when state = 'dead_letter' then 1 end) as dead_letter
from (
    select tenant_id, queue, definition, state from windlass_live
    union all
    select tenant_id, queue, definition, state from windlass_later
    union all
    select tenant_id, queue, definition, state from windlass_ended
) j
where {text :tenant_id} is null or tenant_id = :tenant_id
group by tenant_id, queue, definition
