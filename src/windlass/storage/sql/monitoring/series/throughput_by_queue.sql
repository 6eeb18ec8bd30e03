-- What happened in the slots asked for, in the minutes after them, and what is not rolled up yet,
-- by queue of those named and by the instant at which a slot or minute began.
select queue, at,
    {sum enqueued} as enqueued, {sum started} as started, {sum succeeded} as succeeded,
    {sum failed} as failed, {sum completed} as completed, {sum canceled} as canceled,
    {sum dead_letter} as dead_letter, {sum run_ms} as run_ms, {sum wait_ms} as wait_ms,
    {sum waiting_change} as waiting_change, {sum running_change} as running_change
from (
    select
        r.slot as at, r.queue, r.enqueued, r.started, r.succeeded, r.failed, r.completed,
        r.canceled, r.dead_letter, r.run_ms, r.wait_ms, r.waiting_change, r.running_change
    from {spans} s {join} windlass_rollups r on r.span = s.span and r.slot = s.at
        and r.tenant_id = coalesce({text :tenant_id}, '')
    union all
    select
        minute, queue, enqueued, started, succeeded, failed, completed, canceled, dead_letter,
        run_ms, wait_ms, waiting_change, running_change
    from windlass_minutes
    where minute >= {time :minutes_since} and ({text :tenant_id} is null or tenant_id = :tenant_id)
    union all
    select
        {minute at}, queue, enqueued, {greatest}(running, 0), succeeded, failed,
        {greatest}(completed, 0), {greatest}(canceled, 0), {greatest}(dead_letter, 0), run_ms,
        wait_ms, pending + queued, running
    from windlass_deltas
    where at >= {time :since} and ({text :tenant_id} is null or tenant_id = :tenant_id)
) m
where queue in (select name from {names} n)
group by queue, at
order by queue, at
