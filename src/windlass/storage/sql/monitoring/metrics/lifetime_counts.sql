-- Lifetime counts by queue and definition, including changes not rolled up yet. It never falls.
select queue, definition, sum(enqueued) as enqueued, sum(started) as started,
    sum(succeeded) as succeeded,
    sum(failed) as failed, sum(retried) as retried, sum(canceled) as canceled,
    sum(dead_letter) as dead_letter
from (
    select queue, definition, enqueued, started, succeeded, failed, retried, canceled, dead_letter
        from windlass_totals
    union all
    select queue, definition, enqueued, {greatest}(running, 0), succeeded, failed, retried,
        {greatest}(canceled, 0), {greatest}(dead_letter, 0)
    from windlass_deltas
) t
group by queue, definition
order by queue, definition
