-- Returns which of the leases this worker still holds are asked to stop.
select j.id
from {held} h {join} windlass_live j {index primary} on j.id = h.id and j.lease_token = h.token
where j.cancel_requested_at is not null and j.state = 'running' and j.worker_id = :worker_id
