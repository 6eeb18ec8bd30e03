-- Shows which leases have run out; the one writer of this database needs no lock to end them.
select j.id, j.lease_token
from {held} h cross join windlass_live j on j.id = h.id and j.lease_token = h.token
where j.state = 'running' and j.lease_expires_at <= {now}
