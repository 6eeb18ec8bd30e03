-- Returns the totals as they stand, and for each how much has happened within the last minutes.
select tenant_id, queue, definition, {sum pending} as pending, {sum queued} as queued,
    {sum running} as running, {sum completed} as completed, {sum canceled} as canceled,
    {sum dead_letter} as dead_letter, {sum moves} as moves
from (
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter,
        0 as moves
    from windlass_counts
    union all
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter,
        enqueued + {greatest}(running, 0)
    from windlass_deltas
    union all
    select tenant_id, queue, definition, 0, 0, 0, 0, 0, 0, enqueued + started
    from windlass_minutes where minute > {now} - {seconds 180}
) c
group by tenant_id, queue, definition
