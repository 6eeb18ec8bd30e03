-- Extends the leases this worker still holds, and tells which of their jobs are asked to stop.
update windlass_live as j
set lease_expires_at = {now} + cast(round(:lease_seconds * 1000000) as integer)
from {held} h
where j.id = h.id and j.lease_token = h.token and j.state = 'running'
    and j.worker_id = :worker_id
-- Not `is not null`, which SQLite 3.40 answers wrongly here.
returning id, lease_token, coalesce(cancel_requested_at, 0) <> 0 as cancel_requested
