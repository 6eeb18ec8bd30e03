-- Gives waiting jobs another priority, queue, due time or metadata; what is null stays as it is. A
-- job that runs or has ended is left alone, and one that moves meanwhile is missed: the caller
-- looks again. One that gets a due time stands among those due later until then.

-- let in_line
select id from json_table(@windlass_in_line, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$')) n;

-- let put_off
select id from json_table(@windlass_put_off, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$')) n;

-- let waiting
select j.id, j.tenant_id, j.definition, j.queue, j.state, j.priority, j.due_at
from {in_line} l straight_join windlass_live j force index (primary) on j.id = l.id
union all
select j.id, j.tenant_id, j.definition, j.queue, j.state, j.priority, j.due_at
from {put_off} p straight_join windlass_later j force index (primary) on j.id = p.id;

-- let said
concat(
    case when w.priority <> :priority then concat(', priority ', w.priority, ' to ', :priority)
        else '' end,
    case when w.queue <> :queue then concat(', queue ', w.queue, ' to ', :queue) else '' end,
    case when w.due_at <> :due_at then concat(', due ', :due_text) else '' end,
    case when :metadata is not null then ', metadata' else '' end);

select {now} into @windlass_now;

select coalesce(json_arrayagg(j.id), '[]') into @windlass_in_line
from {ids} i straight_join windlass_live j force index (primary) on j.id = i.id
where j.state = 'queued' and (:tenant_id is null or j.tenant_id = :tenant_id)
for update;

select coalesce(json_arrayagg(j.id), '[]') into @windlass_put_off
from {ids} i straight_join windlass_later j force index (primary) on j.id = i.id
where :tenant_id is null or j.tenant_id = :tenant_id
for update;

insert into windlass_transitions (job_id, at, from_state, to_state, actor, message)
select w.id, @windlass_now, w.state, w.state, :actor, concat('changed: ', substr({said}, 3))
from {waiting} w where {said} <> '';

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued)
select @windlass_now, tenant_id, queue, definition, -sum(state = 'pending'), -sum(state = 'queued')
from {waiting} w where queue <> :queue group by tenant_id, queue, definition
union all
select @windlass_now, tenant_id, :queue, definition, sum(state = 'pending'), sum(state = 'queued')
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
    m.id, m.tenant_id, m.definition, coalesce(:queue, m.queue), m.gate, m.state,
    coalesce(:priority, m.priority),
    :due_at, m.payload, coalesce(:metadata, m.metadata), m.source,
    m.source_ref, m.correlation_id, m.created_by, m.trigger_id, m.trigger_due_at, m.dedupe_key,
    m.idempotency_key, m.on_parent_failure, m.expires_at, m.attempts, m.max_attempts,
    m.worker_deaths,
    m.lease_token, m.worker_id, m.timeout_seconds, m.created_at, m.queued_at, m.started_at,
    m.last_started_at, @windlass_now, m.outcome, m.last_error, m.error_type, m.error_class,
    m.error_trace, m.reason,
    m.log_sequence
from {in_line} l straight_join windlass_live m force index (primary) on m.id = l.id
where :due_at is not null;

update {put_off} p straight_join windlass_later j force index (primary) on j.id = p.id
set j.priority = coalesce(:priority, j.priority), j.queue = coalesce(:queue, j.queue),
    j.due_at = coalesce(:due_at, j.due_at), j.metadata = coalesce(:metadata, j.metadata),
    j.updated_at = @windlass_now;

-- answer
select id, state from {waiting} w;

delete j from {in_line} l straight_join windlass_live j force index (primary) on j.id = l.id
where :due_at is not null;

update {in_line} l straight_join windlass_live j force index (primary) on j.id = l.id
set j.priority = coalesce(:priority, j.priority), j.queue = coalesce(:queue, j.queue),
    j.metadata = coalesce(:metadata, j.metadata), j.updated_at = @windlass_now
