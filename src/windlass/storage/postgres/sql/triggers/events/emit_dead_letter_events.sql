-- Emits the event of jobs that have just been dead-lettered, where a trigger of their tenant waits
-- for it or their definition names a job for it; not for a deleted tenant.
insert into windlass_events (id, tenant_id, name, data, correlation_id, depth, created_at)
select e.event_id, j.tenant_id, :name,
    json_build_object(
        'job_id', j.id, 'definition', j.definition, 'queue', j.queue, 'attempts', j.attempts,
        'error', left(split_part(ltrim(j.last_error, E' \t\r\n'), E'\n', 1), 500),
        'error_type', j.error_type, 'fingerprint', j.fingerprint),
    coalesce(j.correlation_id, cast(j.id as text)),
    -- Anybody may write anything into metadata, and an end must not fail because of it.
    case when cast(j.metadata -> 'event_depth' as text) ~ '^[0-9]{1,3}$'
        then cast(j.metadata ->> 'event_depth' as integer) + 1 else 0 end,
    {now}
from {dead} e
join windlass_ended j on j.id = e.id and j.state = 'dead_letter'
join windlass_tenants t on t.id = j.tenant_id and t.state <> 'deleted'
where exists (select from windlass_definitions d
    where d.key = j.definition and d.on_dead_letter is not null)
    or exists (select from windlass_triggers l
        where l.tenant_id = j.tenant_id and l.event_name = :name
               and l.enabled and not l.missing_from_code)
