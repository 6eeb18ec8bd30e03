-- Folds the changes that batches left behind into the counts, the minutes and the totals.
with folded as (
    delete from windlass_deltas where id = any(array(
        select id from windlass_deltas order by id limit :most for update skip locked))
    returning *
),
counts as (
    insert into windlass_counts as c (tenant_id, queue, definition, pending, queued, running,
        completed, canceled, dead_letter)
    select tenant_id, queue, definition, sum(pending), sum(queued), sum(running), sum(completed),
        sum(canceled), sum(dead_letter)
    from folded group by tenant_id, queue, definition
    order by tenant_id, queue, definition
    on conflict (tenant_id, queue, definition) do update set
        pending = c.pending + excluded.pending, queued = c.queued + excluded.queued,
        running = c.running + excluded.running, completed = c.completed + excluded.completed,
        canceled = c.canceled + excluded.canceled,
        dead_letter = c.dead_letter + excluded.dead_letter
),
minutes as (
    insert into windlass_minutes as m (minute, tenant_id, queue, definition, enqueued, started,
        succeeded, failed, completed, canceled, dead_letter, run_ms, wait_ms,
        waiting_change, running_change)
    select date_trunc('minute', at), tenant_id, queue, definition, sum(enqueued),
        sum(greatest(running, 0)), sum(succeeded), sum(failed), sum(greatest(completed, 0)),
        sum(greatest(canceled, 0)), sum(greatest(dead_letter, 0)), sum(run_ms), sum(wait_ms),
        sum(pending + queued), sum(running)
    from folded group by date_trunc('minute', at), tenant_id, queue, definition
    order by 1, 2, 3, 4
    on conflict (minute, tenant_id, queue, definition) do update set
        enqueued = m.enqueued + excluded.enqueued, started = m.started + excluded.started,
        succeeded = m.succeeded + excluded.succeeded, failed = m.failed + excluded.failed,
        completed = m.completed + excluded.completed, canceled = m.canceled + excluded.canceled,
        dead_letter = m.dead_letter + excluded.dead_letter, run_ms = m.run_ms + excluded.run_ms,
        wait_ms = m.wait_ms + excluded.wait_ms,
        waiting_change = m.waiting_change + excluded.waiting_change,
        running_change = m.running_change + excluded.running_change
),
totals as (
    insert into windlass_totals as t (queue, definition, enqueued, started, succeeded, failed,
        retried, canceled, dead_letter)
    select queue, definition, sum(enqueued), sum(greatest(running, 0)), sum(succeeded), sum(failed),
        sum(retried), sum(greatest(canceled, 0)), sum(greatest(dead_letter, 0))
    from folded group by queue, definition
    order by queue, definition
    on conflict (queue, definition) do update set
        enqueued = t.enqueued + excluded.enqueued, started = t.started + excluded.started,
        succeeded = t.succeeded + excluded.succeeded, failed = t.failed + excluded.failed,
        retried = t.retried + excluded.retried, canceled = t.canceled + excluded.canceled,
        dead_letter = t.dead_letter + excluded.dead_letter
)
select count(*) as folded from folded
