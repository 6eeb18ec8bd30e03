-- The totals as they stand, including changes not rolled up yet.
select tenant_id, queue, definition, {sum pending} as pending, {sum queued} as queued,
    {sum running} as running, {sum completed} as completed, {sum canceled} as canceled,
    {sum dead_letter} as dead_letter
from (
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
    from windlass_counts where {text :tenant_id} is null or tenant_id = :tenant_id
    union all
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
    from windlass_deltas where {text :tenant_id} is null or tenant_id = :tenant_id
) c
group by tenant_id, queue, definition
