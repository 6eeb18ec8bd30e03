-- Counts running jobs under a limit that was set while they ran. They are found first and locked
-- then, one by one: a job that a transaction still open has stored does not run, and is not to be
-- waited for.
select coalesce(json_arrayagg(id), '[]') into @windlass_running
from windlass_live force index (windlass_live_look)
where look_at is not null and state = 'running';

insert into windlass_holds (job_id, name)
select j.id, l.name
from json_table(@windlass_running,
    '$[*]' columns (id char(36) character set ascii collate ascii_bin path '$')) n
straight_join windlass_live j force index (primary) on j.id = n.id
straight_join windlass_limits l
    on l.name in (concat('definition:', j.definition), concat('tenant:', j.tenant_id),
        concat('queue:', j.queue))
where j.state = 'running'
lock in share mode
on duplicate key update windlass_holds.name = windlass_holds.name;

insert into windlass_holds (job_id, name)
select j.id, concat('key:', j.definition, substr(j.gate, instr(j.gate, char(30))))
from json_table(@windlass_running,
    '$[*]' columns (id char(36) character set ascii collate ascii_bin path '$')) n
straight_join windlass_live j force index (primary) on j.id = n.id
straight_join windlass_limits l on l.name = concat('definition:', j.definition)
    and l.max_per_key is not null
where j.state = 'running' and instr(j.gate, char(30)) > 0
lock in share mode
on duplicate key update windlass_holds.name = windlass_holds.name
