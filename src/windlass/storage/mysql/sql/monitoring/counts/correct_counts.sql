-- Adds to the totals what they are off by. What changed since they were compared stays counted.
insert into windlass_counts (tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter)
select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
from {corrections} x
order by tenant_id, queue, definition
on duplicate key update
    pending = windlass_counts.pending + values(pending),
    queued = windlass_counts.queued + values(queued),
    running = windlass_counts.running + values(running),
    completed = windlass_counts.completed + values(completed),
    canceled = windlass_counts.canceled + values(canceled),
    dead_letter = windlass_counts.dead_letter + values(dead_letter)
