-- Puts a dead-lettered or canceled job in line again with fresh attempts, unless an open job has
-- its key. With a payload given it is an edit: of the job as it was dead-lettered with this token,
-- no other.
select max(id) into @windlass_wanted from windlass_ended
where id = :id and state in ('dead_letter', 'canceled')
    and (:tenant_id is null or tenant_id = :tenant_id)
    and (:payload is null or state = 'dead_letter' and lease_token = :token)
for update;

insert into windlass_keys (tenant_id, kind, `key`, job_id, until)
select tenant_id, 'dedupe', coalesce(:dedupe_key, dedupe_key), id, {now}
from windlass_ended where id = @windlass_wanted and dedupe_key is not null
on duplicate key update
    job_id = if(windlass_keys.open = 0, values(job_id), windlass_keys.job_id),
    open = if(windlass_keys.job_id = values(job_id), 1, windlass_keys.open);

select max(e.id) into @windlass_moved
from windlass_ended e
left
    join windlass_keys k on k.tenant_id = e.tenant_id and k.kind = 'dedupe'
    and k.`key` = coalesce(:dedupe_key, e.dedupe_key)
where e.id = @windlass_wanted and (e.dedupe_key is null or k.job_id = e.id);

insert into windlass_live (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, max_attempts, lease_token, worker_id,
    timeout_seconds, created_at, queued_at, started_at, last_started_at, updated_at,
    last_error, error_type, error_class, error_trace, log_sequence
)
select
    m.id, m.tenant_id, m.definition, m.queue, case
        when :payload is not null then coalesce(:own_gate, d.gate, m.gate)
        when m.gate in ('', m.definition) then coalesce(d.gate, m.gate)
        else m.gate end, 'queued', m.priority, {now},
    coalesce(:payload, m.payload), m.metadata, m.source,
    m.source_ref, m.correlation_id, m.created_by, m.trigger_id, m.trigger_due_at,
    coalesce(:dedupe_key, m.dedupe_key),
    m.idempotency_key, m.on_parent_failure, m.max_attempts, m.lease_token, m.worker_id,
    m.timeout_seconds, m.created_at, coalesce(m.queued_at, {now}), m.started_at, m.last_started_at,
    {now},
    m.last_error, m.error_type, m.error_class, m.error_trace, m.log_sequence
from windlass_ended m left join windlass_definitions d on d.`key` = m.definition
where m.id = @windlass_moved;

insert into windlass_transitions (job_id, at, from_state, to_state, actor, message)
select m.id, m.finished_at,
    case
        when m.queued_at is null then 'pending'
        when m.last_started_at is null then 'queued'
        -- Its last try ended before the job did: it was waiting for another.
        when exists (select 1 from windlass_attempts a where a.job_id = m.id
                     and a.number = m.lease_token and a.finished_at < m.finished_at) then 'queued'
        else 'running'
    end,
    m.state, m.cancel_requested_by, coalesce(m.reason, m.last_error)
from windlass_ended m where m.id = @windlass_moved;

insert into windlass_attempts (
    job_id, number, worker_id, started_at, finished_at, outcome, error, error_type, error_class,
    error_trace
)
select id, lease_token, worker_id, last_started_at, finished_at, outcome, last_error, error_type,
    error_class, error_trace
from windlass_ended
where id = @windlass_moved and outcome is not null and last_started_at is not null
on duplicate key update windlass_attempts.number = windlass_attempts.number;

insert into windlass_transitions (job_id, at, from_state, to_state, actor, message)
select id, {now}, state, 'queued', :actor, :message from windlass_ended where id = @windlass_moved;

insert into windlass_deltas (at, tenant_id, queue, definition, queued, canceled, dead_letter)
select {now}, tenant_id, queue, definition, 1,
    case when state = 'canceled' then -1 else 0 end,
    case when state = 'dead_letter' then -1 else 0 end
from windlass_ended where id = @windlass_moved;

delete from windlass_ended where id = @windlass_moved;

select @windlass_wanted as id, case when @windlass_moved is null then 'duplicate'
    else 'queued' end as state
from windlass_tenants where id = 'system' and @windlass_wanted is not null
