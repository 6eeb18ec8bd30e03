-- Notes what jobs that have just completed have done, each once for its tenant; kept as long as the job.
insert into windlass_done (tenant_id, key, job_id, at)
select j.tenant_id, d.key, j.id, {now}
from {done_keys} d cross join windlass_ended j on j.id = d.id and j.state = 'completed' where true
on conflict (tenant_id, key) do nothing
