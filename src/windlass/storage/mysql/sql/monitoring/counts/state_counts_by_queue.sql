-- The totals by queue and definition as they stand, changes not folded yet included.
select queue, definition,
    cast(sum(pending) as signed) as pending, cast(sum(queued) as signed) as queued,
    cast(sum(running) as signed) as running, cast(sum(completed) as signed) as completed,
    cast(sum(canceled) as signed) as canceled, cast(sum(dead_letter) as signed) as dead_letter
from (
    select queue, definition, pending, queued, running, completed, canceled, dead_letter
    from windlass_counts where (:tenant_id is null or tenant_id = :tenant_id)
    union all
    select queue, definition, pending, queued, running, completed, canceled, dead_letter
    from windlass_deltas where (:tenant_id is null or tenant_id = :tenant_id)
) c
group by queue, definition
