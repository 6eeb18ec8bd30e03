-- Emits the event of jobs that have just been dead-lettered, where a trigger of their tenant waits
-- for it or their definition names a job for it; not for a deleted tenant.
insert into windlass_events (id, tenant_id, name, data, correlation_id, depth, created_at)
select e.event_id, j.tenant_id, :name,
    json_object(
        'job_id', j.id, 'definition', j.definition, 'queue', j.queue, 'attempts', j.attempts,
        'error',
        left(substring_index(regexp_replace(j.last_error, '^[ \t\r\n]+', ''), '\n', 1), 500),
        'error_type', j.error_type, 'fingerprint', j.fingerprint),
    coalesce(j.correlation_id, j.id),
    -- Anybody may write anything into metadata, and an end must not fail because of it.
    case when json_extract(j.metadata, '$.event_depth') regexp '^[0-9]{1,3}$'
        then cast(json_extract(j.metadata, '$.event_depth') as unsigned) + 1 else 0 end,
    {now}
from {dead} e
straight_join windlass_ended j force index (primary) on j.id = e.id and j.state = 'dead_letter'
join windlass_tenants t on t.id = j.tenant_id and t.state <> 'deleted'
where exists (select 1 from windlass_definitions d
    where d.`key` = j.definition and d.on_dead_letter is not null)
    or exists (select 1 from windlass_triggers l
        where l.tenant_id = j.tenant_id and l.event_name = :name
               and l.enabled = 1 and l.missing_from_code = 0)
