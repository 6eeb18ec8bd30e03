-- What happened since an instant by slots of so many seconds, including changes not rolled up yet.
select cast(floor(extract(epoch from minute) / cast(:seconds as integer)) as bigint) as slot,
    sum(enqueued) as enqueued, sum(started) as started, sum(succeeded) as succeeded,
    sum(failed) as failed, sum(completed) as completed, sum(canceled) as canceled,
    sum(dead_letter) as dead_letter, sum(run_ms) as run_ms, sum(wait_ms) as wait_ms
from (
    select minute, tenant_id, queue, definition, enqueued, started, succeeded, failed, completed,
    canceled, dead_letter,
        run_ms, wait_ms
    from windlass_minutes where minute >= cast(:since as timestamptz)
    union all
    select date_trunc('minute', at) as minute, tenant_id, queue, definition, enqueued,
        greatest(running, 0) as started, succeeded, failed, greatest(completed, 0) as completed,
        greatest(canceled, 0) as canceled, greatest(dead_letter, 0) as dead_letter, run_ms, wait_ms
    from windlass_deltas where at >= cast(:since as timestamptz)
) m
where (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
    and (cast(:definition as text) is null or definition = :definition)
    and (cast(:queue as text) is null or queue = :queue)
group by slot
order by slot
