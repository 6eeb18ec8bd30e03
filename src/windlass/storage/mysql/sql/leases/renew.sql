-- Extends the leases this worker still holds, and tells which of their jobs are asked to stop.
update {held} h
straight_join windlass_live j force index (primary) on j.id = h.id and j.lease_token = h.token
set j.lease_expires_at = {now} + interval round(:lease_seconds * 1000000) microsecond
where j.state = 'running' and j.worker_id = :worker_id;

select j.id, j.lease_token, j.cancel_requested_at is not null as cancel_requested
from {held} h
straight_join windlass_live j force index (primary) on j.id = h.id and j.lease_token = h.token
where j.state = 'running' and j.worker_id = :worker_id
