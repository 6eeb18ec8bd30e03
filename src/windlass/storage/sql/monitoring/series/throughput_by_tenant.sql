-- What happened in the slots asked for, in the minutes after them, and what is not rolled up yet,
-- by tenant of those named and, if :by_slot, by the instant at which a slot or minute began.
select tenant_id, case when {bool :by_slot} then at end as begun,
    {sum enqueued} as enqueued, {sum started} as started, {sum succeeded} as succeeded,
    {sum failed} as failed, {sum completed} as completed, {sum canceled} as canceled,
    {sum dead_letter} as dead_letter, {sum run_ms} as run_ms, {sum wait_ms} as wait_ms,
    {sum waiting_change} as waiting_change, {sum running_change} as running_change
from (
    select
        r.tenant_id, r.slot as at, r.enqueued, r.started, r.succeeded, r.failed, r.completed,
        r.canceled, r.dead_letter, r.run_ms, r.wait_ms, r.waiting_change, r.running_change
    from {spans} s cross join {names} n
    {join} windlass_rollups r on r.span = s.span and r.slot = s.at and r.tenant_id = n.name
    union all
    select
        tenant_id, minute, enqueued, started, succeeded, failed, completed, canceled, dead_letter,
        run_ms, wait_ms, waiting_change, running_change
    from windlass_minutes where minute >= {time :minutes_since}
    union all
    select
        tenant_id, {minute at}, enqueued, {greatest}(running, 0), succeeded, failed,
        {greatest}(completed, 0), {greatest}(canceled, 0), {greatest}(dead_letter, 0), run_ms,
        wait_ms, pending + queued, running
    from windlass_deltas where at >= {time :since}
) m
where tenant_id in (select name from {names} t)
group by tenant_id, case when {bool :by_slot} then at end
order by tenant_id, begun
