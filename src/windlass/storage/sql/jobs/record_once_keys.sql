-- Records the `ctx.once` keys of jobs that have just completed, each once per tenant; they are kept
-- as long as the job.
insert into windlass_done (tenant_id, {name key}, job_id, at)
select j.tenant_id, d.{name key}, j.id, {now}
from {done_keys} d {join} windlass_ended j {index primary} on j.id = d.id and j.state = 'completed'
where true
order by j.tenant_id, d.{name key}
{or_ignore windlass_done.job_id}
