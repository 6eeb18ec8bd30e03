-- Counts jobs that were copied in.
insert into windlass_deltas (at, tenant_id, queue, definition, queued, enqueued)
select {now}, tenant_id, queue, definition, jobs, jobs from {groups} g
