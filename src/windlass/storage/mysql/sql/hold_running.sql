-- Gives running jobs their part of a limit that was set while they ran.
insert into windlass_holds (job_id, name)
select j.id, l.name
from windlass_live j force index (windlass_live_look)
straight_join windlass_limits l on l.name in (concat('definition:', j.definition), concat('tenant:', j.tenant_id))
where j.look_at is not null and j.state = 'running'
lock in share mode
on duplicate key update windlass_holds.name = windlass_holds.name
