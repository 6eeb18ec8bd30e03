-- Records progress of the leases this worker still holds.
update windlass_live as j
set progress = r.progress, progress_note = r.note, updated_at = {now}
from {reports} r
where j.id = r.id and j.lease_token = r.token and j.state = 'running'
    and j.worker_id = :worker_id
returning id
