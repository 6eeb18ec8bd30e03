-- Tells which of the leases still held are asked to stop.
select j.id from windlass_live j
where j.id = any(array(select id from {held} h)) and j.cancel_requested_at is not null
    and ((j.id, j.lease_token) in (select id, token from {held} h)) is true
