-- Tells which of these leases this worker holds, and what their jobs are.
select j.id, j.lease_token, j.definition, j.queue, j.attempts, j.max_attempts,
    timestampdiff(microsecond, j.last_started_at, {now}) / 1000000.0 as ran_seconds,
    j.cancel_requested_at is not null as cancel_requested
from {held} h
straight_join windlass_live j force index (primary) on j.id = h.id and j.lease_token = h.token
where j.state = 'running' and j.worker_id = :worker_id
