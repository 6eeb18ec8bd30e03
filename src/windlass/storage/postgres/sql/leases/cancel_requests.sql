-- Returns which of the leases this worker still holds are asked to stop.
select j.id from windlass_live j
where j.id = any(array(select id from {held} h)) and j.cancel_requested_at is not null
    and j.state = 'running' and j.worker_id = :worker_id
    and ((j.id, j.lease_token) in (select id, token from {held} h)) is true
