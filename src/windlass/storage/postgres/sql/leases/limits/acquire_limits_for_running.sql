-- Counts running jobs under a limit that was set while they ran.
insert into windlass_holds (job_id, name)
select j.id, l.name from windlass_live j
join windlass_limits l
    on l.name in ('definition:' || j.definition, 'tenant:' || j.tenant_id, 'queue:' || j.queue)
where j.state = 'running'
union all
select j.id, 'key:' || j.definition || substr(j.gate, strpos(j.gate, chr(30))) from windlass_live j
join windlass_limits l on l.name = 'definition:' || j.definition and l.max_per_key is not null
where j.state = 'running' and strpos(j.gate, chr(30)) > 0
on conflict do nothing
