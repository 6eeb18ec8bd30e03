-- Adds log lines of the leases this worker still holds, numbered on from the job's last line.

-- let logged
select id, token, added, sequence_before from json_table(@windlass_logged, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$[0]', token bigint path '$[1]',
    added integer path '$[2]', sequence_before integer path '$[3]')) n limit 1000000000;

select coalesce(json_arrayagg(json_array(j.id, j.lease_token, g.added, j.log_sequence)),
    '[]') into @windlass_logged
from (select id, token, count(*) as added from {log_lines} l group by id, token order by id) g
straight_join windlass_live j force index (primary) on j.id = g.id and j.lease_token = g.token
where j.state = 'running' and j.worker_id = :worker_id
for update;

update {logged} g
straight_join windlass_live j force index (primary) on j.id = g.id
set j.log_sequence = j.log_sequence + g.added;

insert into windlass_logs (
    job_id, sequence, attempt, tenant_id, definition, level, message, fields, created_at, words
)
select g.id, g.sequence_before + row_number() over (partition by g.id order by l.place), g.token,
    j.tenant_id, j.definition, l.level, l.message, l.fields, l.at,
    concat('ww', regexp_replace(lower(l.message), '[^\\p{L}\\p{N}]+', ' ww'))
from {log_lines} l
straight_join {logged} g on g.id = l.id and g.token = l.token
straight_join windlass_live j force index (primary) on j.id = g.id;

select id from {logged} g
