-- Creates a job due at once: one due later, or one on hold that waits for no parent.

-- let moved
select * from windlass_later
where id = :id and (:tenant_id is null or tenant_id = :tenant_id)
    and (state = 'queued' or held and waits = 0) and cancel_to is null;

insert into windlass_live (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
    lease_token, worker_id, timeout_seconds, created_at, queued_at, started_at,
    last_started_at, updated_at, outcome, last_error, error_type, error_class, error_trace,
    log_sequence
)
select
    m.id, m.tenant_id, m.definition, m.queue, case
        when m.gate in ('', m.definition) then coalesce(d.gate, m.gate)
        else m.gate end, 'queued', m.priority,
    min(m.due_at, {now}), m.payload, m.metadata, m.source,
    m.source_ref, m.correlation_id, m.created_by, m.trigger_id, m.trigger_due_at, m.dedupe_key,
    m.idempotency_key, m.on_parent_failure, m.expires_at, m.attempts, m.max_attempts,
    m.worker_deaths,
    m.lease_token, m.worker_id, m.timeout_seconds, m.created_at, coalesce(m.queued_at, {now}),
    m.started_at,
    m.last_started_at, {now}, m.outcome, m.last_error, m.error_type, m.error_class, m.error_trace,
    m.log_sequence
from {moved} m left join windlass_definitions d on d.key = m.definition;

insert into windlass_transitions (job_id, at, from_state, to_state, actor, message)
select id, {now}, state, 'queued', :actor, 'run now' from {moved} m;

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued)
select {now}, tenant_id, queue, definition, -1, 1 from {moved} m where state = 'pending';

delete from windlass_later where id in (select id from {moved} m);

select id, 'queued' as state, queue from windlass_live
where id = :id and state = 'queued' and (:tenant_id is null or tenant_id = :tenant_id)
