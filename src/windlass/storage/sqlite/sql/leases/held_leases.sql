-- Tells which of these leases this worker holds, and what their jobs are.
select j.id, j.lease_token, j.definition, j.queue, j.attempts, j.max_attempts,
    ({now} - j.last_started_at) / 1000000.0 as ran_seconds,
    coalesce(j.cancel_requested_at, 0) <> 0 as cancel_requested
from {held} h cross join windlass_live j on j.id = h.id and j.lease_token = h.token
where j.state = 'running' and j.worker_id = :worker_id
