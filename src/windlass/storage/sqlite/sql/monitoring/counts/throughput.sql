-- What happened since an instant by slots of so many seconds, including changes not rolled up yet.
select minute / 1000000 / :seconds as slot,
    sum(enqueued) as enqueued, sum(started) as started, sum(succeeded) as succeeded,
    sum(failed) as failed, sum(completed) as completed, sum(canceled) as canceled,
    sum(dead_letter) as dead_letter, sum(run_ms) as run_ms, sum(wait_ms) as wait_ms
from (
    select minute, tenant_id, queue, definition, enqueued, started, succeeded, failed, completed,
    canceled, dead_letter,
        run_ms, wait_ms
    from windlass_minutes where minute >= :since
    union all
    select at - at % 60000000 as minute, tenant_id, queue, definition, enqueued,
        max(running, 0) as started, succeeded, failed, max(completed, 0) as completed,
        max(canceled, 0) as canceled, max(dead_letter, 0) as dead_letter, run_ms, wait_ms
    from windlass_deltas where at >= :since
) m
where (:tenant_id is null or tenant_id = :tenant_id)
    and (:definition is null or definition = :definition)
    and (:queue is null or queue = :queue)
group by slot
order by slot
