-- Folds the changes that batches left behind into the counts, the minutes and the totals.

-- let folded
select d.*
from json_table(@windlass_folded, '$[*]' columns (id bigint path '$')) n
straight_join windlass_deltas d force index (primary) on d.id = n.id;

select coalesce(json_arrayagg(id), '[]') into @windlass_folded from (
    select id from windlass_deltas force index (primary) order by id limit :most
        for update skip locked
) d;

insert into windlass_counts (tenant_id, queue, definition, pending, queued, running, completed,
    canceled, dead_letter)
select tenant_id, queue, definition, sum(pending), sum(queued), sum(running), sum(completed),
    sum(canceled), sum(dead_letter)
from {folded} f group by tenant_id, queue, definition
order by tenant_id, queue, definition
on duplicate key update
    pending = windlass_counts.pending + values(pending), queued = windlass_counts.queued +
        values(queued),
    running = windlass_counts.running + values(running),
    completed = windlass_counts.completed + values(completed),
    canceled = windlass_counts.canceled + values(canceled),
    dead_letter = windlass_counts.dead_letter + values(dead_letter);

insert into windlass_minutes (`minute`, tenant_id, queue, definition, enqueued, started,
    succeeded, failed, completed, canceled, dead_letter, run_ms, wait_ms, waiting_change,
    running_change)
select at_minute, tenant_id, queue, definition, sum(enqueued),
    sum(greatest(running, 0)), sum(succeeded), sum(failed), sum(greatest(completed, 0)),
    sum(greatest(canceled, 0)), sum(greatest(dead_letter, 0)), sum(run_ms), sum(wait_ms),
    sum(pending + queued), sum(running)
from (
    select at - interval second(at) * 1000000 + microsecond(at) microsecond as at_minute, f.*
    from {folded} f
) m
group by at_minute, tenant_id, queue, definition
order by at_minute, tenant_id, queue, definition
on duplicate key update
    enqueued = windlass_minutes.enqueued + values(enqueued), started = windlass_minutes.started +
        values(started),
    succeeded = windlass_minutes.succeeded + values(succeeded), failed = windlass_minutes.failed +
        values(failed),
    completed = windlass_minutes.completed +
        values(completed), canceled = windlass_minutes.canceled + values(canceled),
    dead_letter = windlass_minutes.dead_letter +
        values(dead_letter), run_ms = windlass_minutes.run_ms + values(run_ms),
    wait_ms = windlass_minutes.wait_ms + values(wait_ms),
    waiting_change = windlass_minutes.waiting_change + values(waiting_change),
    running_change = windlass_minutes.running_change + values(running_change);

insert into windlass_totals (queue, definition, enqueued, started, succeeded, failed, retried,
    canceled, dead_letter)
select queue, definition, sum(enqueued), sum(greatest(running, 0)), sum(succeeded), sum(failed),
    sum(retried), sum(greatest(canceled, 0)), sum(greatest(dead_letter, 0))
from {folded} f group by queue, definition
order by queue, definition
on duplicate key update
    enqueued = windlass_totals.enqueued + values(enqueued), started = windlass_totals.started +
        values(started),
    succeeded = windlass_totals.succeeded + values(succeeded), failed = windlass_totals.failed +
        values(failed),
    retried = windlass_totals.retried + values(retried), canceled = windlass_totals.canceled +
        values(canceled),
    dead_letter = windlass_totals.dead_letter + values(dead_letter);

delete d
from json_table(@windlass_folded, '$[*]' columns (id bigint path '$')) n
straight_join windlass_deltas d force index (primary) on d.id = n.id;

select json_length(@windlass_folded) as folded
