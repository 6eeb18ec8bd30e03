-- Returns expired leases and changes nothing: the reaper acts on its second look.
select id, lease_token, attempts, max_attempts, worker_deaths, tenant_id, definition,
    correlation_id, worker_id, gate
from windlass_live
where state = 'running' and lease_expires_at <= {now}
order by worker_id limit :most
