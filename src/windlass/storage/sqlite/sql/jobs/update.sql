-- Gives waiting jobs another priority, queue, due time or metadata; what is null stays as it is. A
-- job that runs or has ended is left alone. One that gets a due time stands among those due later
-- until then.

-- let waiting
select j.* from {ids} i cross join windlass_live j on j.id = i.id and j.state = 'queued'
where :tenant_id is null or j.tenant_id = :tenant_id
union all
select j.* from {ids} i cross join windlass_later j on j.id = i.id
where :tenant_id is null or j.tenant_id = :tenant_id;

-- let said
case when priority <> :priority then ', priority ' || priority || ' to ' || :priority else '' end
|| case when queue <> :queue then ', queue ' || queue || ' to ' || :queue else '' end
|| case when due_at <> :due_at then ', due ' || :due_text else '' end
|| case when :metadata is not null then ', metadata' else '' end;

insert into windlass_transitions (job_id, at, from_state, to_state, actor, message)
select id, {now}, state, state, :actor, 'changed: ' || substr({said}, 3) from {waiting} w
where {said} <> '';

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued)
select {now}, tenant_id, queue, definition,
    -count(*) filter (where state = 'pending'), -count(*) filter (where state = 'queued')
from {waiting} w where queue <> :queue group by tenant_id, queue, definition
union all
select {now}, tenant_id, :queue, definition,
    count(*) filter (where state = 'pending'), count(*) filter (where state = 'queued')
from {waiting} w where queue <> :queue group by tenant_id, definition;

insert into windlass_later (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
    lease_token, worker_id, timeout_seconds, created_at, queued_at, started_at,
    last_started_at, updated_at, outcome, last_error, error_type, error_class, error_trace, reason,
    log_sequence
)
select
    m.id, m.tenant_id, m.definition, m.queue, m.gate, m.state, m.priority, m.due_at, m.payload,
    m.metadata, m.source,
    m.source_ref, m.correlation_id, m.created_by, m.trigger_id, m.trigger_due_at, m.dedupe_key,
    m.idempotency_key, m.on_parent_failure, m.expires_at, m.attempts, m.max_attempts,
    m.worker_deaths,
    m.lease_token, m.worker_id, m.timeout_seconds, m.created_at, m.queued_at, m.started_at,
    m.last_started_at, m.updated_at, m.outcome, m.last_error, m.error_type, m.error_class,
    m.error_trace, m.reason, m.log_sequence
from {ids} i cross join windlass_live m on m.id = i.id and m.state = 'queued'
where :due_at is not null and (:tenant_id is null or m.tenant_id = :tenant_id);

delete from windlass_live
where :due_at is not null and id in (select id from {ids} i) and state = 'queued'
    and (:tenant_id is null or tenant_id = :tenant_id);

update windlass_live
set priority = coalesce(:priority, priority), queue = coalesce(:queue, queue),
    metadata = coalesce(:metadata, metadata), updated_at = {now}
where id in (select id from {ids} i) and state = 'queued'
    and (:tenant_id is null or tenant_id = :tenant_id);

update windlass_later
set priority = coalesce(:priority, priority), queue = coalesce(:queue, queue),
    due_at = coalesce(:due_at, due_at),
    metadata = coalesce(:metadata, metadata), updated_at = {now}
where id in (select id from {ids} i) and (:tenant_id is null or tenant_id = :tenant_id);

-- answer
select id, state from {waiting} w
