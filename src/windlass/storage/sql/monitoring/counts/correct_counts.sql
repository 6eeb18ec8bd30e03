-- Adds to the totals what they are off by. What changed since they were compared stays counted.
insert into windlass_counts (tenant_id, queue, definition, pending, queued, running, completed,
    canceled, dead_letter)
select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
from {corrections} x
where true
order by tenant_id, queue, definition
{on_conflict tenant_id, queue, definition}
    pending = windlass_counts.pending + {new pending},
    queued = windlass_counts.queued + {new queued},
    running = windlass_counts.running + {new running},
    completed = windlass_counts.completed + {new completed},
    canceled = windlass_counts.canceled + {new canceled},
    dead_letter = windlass_counts.dead_letter + {new dead_letter}
