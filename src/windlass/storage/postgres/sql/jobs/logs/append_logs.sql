-- Adds log lines of the leases this worker still holds, numbered on from the job's last line.
with grouped as (
    select id, token, count(*) as lines from {log_lines} g group by id, token
),
numbered as (
    update windlass_live j
    set log_sequence = j.log_sequence + g.lines
    from grouped g
    where j.id = any(array(select id from grouped)) and j.id = g.id and j.lease_token = g.token
        and j.state = 'running' and j.worker_id = :worker_id
    returning j.id, j.lease_token, j.tenant_id, j.definition, j.log_sequence - g.lines as before
)
insert into windlass_logs (job_id, sequence, attempt, tenant_id, definition, level, message,
    fields, created_at)
select n.id, n.before + row_number() over (partition by n.id order by l.place), n.lease_token,
    n.tenant_id, n.definition, l.level, l.message, l.fields, l.at
from {log_lines} l join numbered n on n.id = l.id and n.lease_token = l.token
returning job_id as id
