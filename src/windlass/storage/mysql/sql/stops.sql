-- Tells which of the leases still held are asked to stop.
select j.id
from {held} h
straight_join windlass_live j force index (primary) on j.id = h.id and j.lease_token = h.token
where j.cancel_requested_at is not null
