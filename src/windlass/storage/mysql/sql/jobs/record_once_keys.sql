-- Notes what jobs that have just completed have done, each once for its tenant; kept as long as the job.
insert into windlass_done (tenant_id, `key`, job_id, at)
select j.tenant_id, d.`key`, j.id, {now}
from {done_keys} d straight_join windlass_ended j force index (primary) on j.id = d.id and j.state = 'completed'
order by j.tenant_id, d.`key`
on duplicate key update windlass_done.job_id = windlass_done.job_id
