-- Tells the totals as they stand, and for each how much has happened within the last minutes.
select tenant_id, queue, definition, cast(sum(pending) as signed) as pending, cast(sum(queued) as signed) as queued,
    cast(sum(running) as signed) as running, cast(sum(completed) as signed) as completed, cast(sum(canceled) as signed) as canceled,
    cast(sum(dead_letter) as signed) as dead_letter, cast(sum(moves) as signed) as moves
from (
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter,
        0 as moves
    from windlass_counts
    union all
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter,
        enqueued + greatest(running, 0)
    from windlass_deltas
    union all
    select tenant_id, queue, definition, 0, 0, 0, 0, 0, 0, enqueued + started
    from windlass_minutes where `minute` > {now} - interval 3 minute
) c
group by tenant_id, queue, definition
