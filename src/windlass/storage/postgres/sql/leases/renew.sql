-- Extends the leases this worker still holds, and tells which of their jobs are asked to stop.
update windlass_live j
set lease_expires_at = {now} + cast(:lease_seconds as double precision) * interval '1 second'
where j.id = any(array(select id from {held} h)) and j.state = 'running'
    and j.worker_id = :worker_id
    and ((j.id, j.lease_token) in (select id, token from {held} h)) is true
returning j.id, j.lease_token, j.cancel_requested_at is not null as cancel_requested
