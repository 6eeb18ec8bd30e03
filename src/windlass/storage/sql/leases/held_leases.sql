-- Returns which of these leases this worker holds, and what their jobs are.
select j.id, j.lease_token, j.tenant_id, j.definition, j.queue, j.attempts, j.max_attempts,
    {since j.last_started_at} as ran_seconds,
    j.cancel_requested_at is not null as cancel_requested
from {held} h {join} windlass_live j {index primary} on j.id = h.id and j.lease_token = h.token
where j.state = 'running' and j.worker_id = :worker_id
