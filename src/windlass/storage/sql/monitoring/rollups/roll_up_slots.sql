-- Makes the rows of one slot of the shorter slots in it. May be repeated.
insert into windlass_rollups (span, slot, tenant_id, queue, definition,
    enqueued, started, succeeded, failed, completed, canceled, dead_letter, run_ms, wait_ms,
    waiting_change, running_change)
select {int :span}, {time :slot}, tenant_id, queue, definition,
    sum(enqueued), sum(started), sum(succeeded), sum(failed), sum(completed), sum(canceled),
    sum(dead_letter), sum(run_ms), sum(wait_ms), sum(waiting_change), sum(running_change)
from (
    select
        tenant_id, queue, definition, enqueued, started, succeeded, failed, completed, canceled,
        dead_letter, run_ms, wait_ms, waiting_change, running_change
    from windlass_rollups
    where span = {int :of_span} and slot >= {time :slot} and slot < {time :until}
) m
where true
group by tenant_id, queue, definition
order by tenant_id, queue, definition
{on_conflict span, slot, tenant_id, queue, definition}
    enqueued = {new enqueued},
    started = {new started},
    succeeded = {new succeeded},
    failed = {new failed},
    completed = {new completed},
    canceled = {new canceled},
    dead_letter = {new dead_letter},
    run_ms = {new run_ms},
    wait_ms = {new wait_ms},
    waiting_change = {new waiting_change},
    running_change = {new running_change}
