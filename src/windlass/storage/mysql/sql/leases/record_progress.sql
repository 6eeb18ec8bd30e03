-- Records progress of the leases this worker still holds.
update {reports} r
straight_join windlass_live j force index (primary) on j.id = r.id and j.lease_token = r.token
set j.progress = r.progress, j.progress_note = r.note, j.updated_at = {now}
where j.state = 'running' and j.worker_id = :worker_id;

select j.id
from {reports} r
straight_join windlass_live j force index (primary) on j.id = r.id and j.lease_token = r.token
where j.state = 'running' and j.worker_id = :worker_id
