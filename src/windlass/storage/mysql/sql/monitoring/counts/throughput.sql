-- What happened since an instant by slots of so many seconds, including changes not rolled up yet.
select floor(timestampdiff(second, '1970-01-01', `minute`) / :seconds) as slot,
    cast(sum(enqueued) as signed) as enqueued, cast(sum(started) as signed) as started,
    cast(sum(succeeded) as signed) as succeeded, cast(sum(failed) as signed) as failed,
    cast(sum(completed) as signed) as completed, cast(sum(canceled) as signed) as canceled,
    cast(sum(dead_letter) as signed) as dead_letter, cast(sum(run_ms) as signed) as run_ms,
    cast(sum(wait_ms) as signed) as wait_ms
from (
    select `minute`, tenant_id, queue, definition, enqueued, started, succeeded, failed, completed,
    canceled, dead_letter,
        run_ms, wait_ms
    from windlass_minutes where `minute` >= :since
    union all
    select at - interval second(at) * 1000000 + microsecond(at) microsecond as `minute`, tenant_id,
    queue, definition, enqueued,
        greatest(running, 0) as started, succeeded, failed, greatest(completed, 0) as completed,
        greatest(canceled, 0) as canceled, greatest(dead_letter, 0) as dead_letter, run_ms, wait_ms
    from windlass_deltas where at >= :since
) m
where (:tenant_id is null or tenant_id = :tenant_id)
    and (:definition is null or definition = :definition)
    and (:queue is null or queue = :queue)
group by slot
order by slot
