-- What happened since an instant by tenant, changes not folded yet included.
select tenant_id,
    cast(sum(enqueued) as signed) as enqueued, cast(sum(started) as signed) as started, cast(sum(succeeded) as signed) as succeeded,
    cast(sum(failed) as signed) as failed, cast(sum(completed) as signed) as completed, cast(sum(canceled) as signed) as canceled,
    cast(sum(dead_letter) as signed) as dead_letter, cast(sum(run_ms) as signed) as run_ms, cast(sum(wait_ms) as signed) as wait_ms
from (
    select tenant_id, enqueued, started, succeeded, failed, completed, canceled, dead_letter, run_ms, wait_ms
    from windlass_minutes where `minute` >= :since
    union all
    select tenant_id, enqueued, greatest(running, 0) as started, succeeded, failed, greatest(completed, 0) as completed,
        greatest(canceled, 0) as canceled, greatest(dead_letter, 0) as dead_letter, run_ms, wait_ms
    from windlass_deltas where at >= :since
) m
where (:tenant_id is null or tenant_id = :tenant_id)
group by tenant_id
order by tenant_id
