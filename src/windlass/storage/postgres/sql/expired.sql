-- Shows leases that have run out. It changes nothing: a reaper acts on its second look.
select distinct j.id, j.lease_token, j.attempts, j.max_attempts, j.worker_deaths, j.definition, j.worker_id
from windlass_claims c
cross join lateral unnest(c.job_ids) x(job_id)
join windlass_live j on j.id = x.job_id
where c.look_at <= {now} and j.state = 'running' and j.lease_expires_at <= {now}
limit :most
