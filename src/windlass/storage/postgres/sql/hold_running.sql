-- Gives running jobs their part of a limit that was set while they ran.
insert into windlass_holds (job_id, name)
select j.id, l.name from windlass_live j
join windlass_limits l on l.name in ('definition:' || j.definition, 'tenant:' || j.tenant_id)
where j.state = 'running'
on conflict do nothing
