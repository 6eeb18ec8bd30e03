-- Locks the leases that have run out, for a reaper to end them; rows that are locked are passed by.
select j.id, j.lease_token
from {held} h {join} windlass_live j {index primary} on j.id = h.id and j.lease_token = h.token
where j.state = 'running' and j.lease_expires_at <= {now}
order by j.id {for update skip locked}
