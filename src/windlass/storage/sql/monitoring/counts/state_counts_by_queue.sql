-- The totals by queue and definition as they stand, including changes not rolled up yet.
select queue, definition,
    {sum pending} as pending, {sum queued} as queued, {sum running} as running,
    {sum completed} as completed,
    {sum canceled} as canceled, {sum dead_letter} as dead_letter
from (
    select queue, definition, pending, queued, running, completed, canceled, dead_letter
    from windlass_counts where ({text :tenant_id} is null or tenant_id = :tenant_id)
    union all
    select queue, definition, pending, queued, running, completed, canceled, dead_letter
    from windlass_deltas where ({text :tenant_id} is null or tenant_id = :tenant_id)
) c
group by queue, definition
