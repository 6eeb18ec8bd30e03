-- Adds to the totals what they are off by. What changed since they were compared stays counted.
insert into windlass_counts as c (tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter)
select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
from {corrections} x
order by tenant_id, queue, definition
on conflict (tenant_id, queue, definition) do update set
    pending = c.pending + excluded.pending,
    queued = c.queued + excluded.queued,
    running = c.running + excluded.running,
    completed = c.completed + excluded.completed,
    canceled = c.canceled + excluded.canceled,
    dead_letter = c.dead_letter + excluded.dead_letter
