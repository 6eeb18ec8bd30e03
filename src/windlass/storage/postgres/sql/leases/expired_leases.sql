-- Returns expired leases and changes nothing: the reaper acts on its second look.
select j.id, j.lease_token, j.attempts, j.max_attempts, j.worker_deaths, j.tenant_id, j.definition,
    j.correlation_id, j.worker_id, j.gate
from windlass_live j
where j.id = any(array(select unnest(c.job_ids) from windlass_claims c where c.look_at <= {now}))
    and j.state = 'running' and j.lease_expires_at <= {now}
order by j.worker_id limit :most
