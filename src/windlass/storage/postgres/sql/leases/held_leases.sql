-- Returns which of these leases this worker holds, and what their jobs are.
select j.id, j.lease_token, j.tenant_id, j.definition, j.queue, j.attempts, j.max_attempts,
    cast(extract(epoch from {now} - j.last_started_at) as double precision) as ran_seconds,
    j.cancel_requested_at is not null as cancel_requested
from windlass_live j
where j.id = any(array(select id from {held} h)) and j.state = 'running'
    and j.worker_id = :worker_id
    and ((j.id, j.lease_token) in (select id, token from {held} h)) is true
