-- Adds log lines of the leases this worker still holds, numbered on from the job's last line.
insert into windlass_logs (job_id, sequence, attempt, tenant_id, definition, level, message,
    fields, created_at)
select j.id, j.log_sequence + row_number() over (partition by j.id order by l.place), j.lease_token,
    j.tenant_id, j.definition, l.level, l.message, l.fields, l.at
from {log_lines} l
cross join windlass_live j on j.id = l.id and j.lease_token = l.token and j.state = 'running'
    and j.worker_id = :worker_id;

update windlass_live as j set log_sequence = j.log_sequence + g.lines
from (select id, token, count(*) as lines from {log_lines} l group by id, token) g
where j.id = g.id and j.lease_token = g.token and j.state = 'running'
    and j.worker_id = :worker_id
returning id
