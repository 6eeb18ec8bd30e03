-- Puts a dead-lettered or canceled job in line again with fresh attempts, unless an open job has
-- its key. With a payload given it is an edit: of the job as it was dead-lettered with this token,
-- no other.

-- let wanted
select e.*, e.dedupe_key is null or exists (
    select 1 from windlass_keys k where k.tenant_id = e.tenant_id and k.kind = 'dedupe'
        and k.key = coalesce(:dedupe_key, e.dedupe_key) and k.job_id = e.id) as free
from windlass_ended e
where e.id = :id and e.state in ('dead_letter', 'canceled')
    and (:tenant_id is null or e.tenant_id = :tenant_id)
    and (:payload is null or e.state = 'dead_letter' and e.lease_token = :token);

insert into windlass_keys as k (tenant_id, kind, key, job_id, until)
select tenant_id, 'dedupe', coalesce(:dedupe_key, dedupe_key), id, {now} from {wanted} w
where dedupe_key is not null
on conflict (tenant_id, kind, key) do update set job_id = excluded.job_id, open = 1
    where not k.open or k.job_id = excluded.job_id;

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
from {wanted} m left join windlass_definitions d on d.key = m.definition where m.free;

insert into windlass_attempts (
    job_id, number, worker_id, started_at, finished_at, outcome, error, error_type, error_class,
    error_trace
)
select id, lease_token, worker_id, last_started_at, finished_at, outcome, last_error, error_type,
    error_class, error_trace
from {wanted} m where m.free and outcome is not null and last_started_at is not null
on conflict do nothing;

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
from {wanted} m where m.free
union all
select id, {now}, state, 'queued', :actor, :message from {wanted} m where m.free;

insert into windlass_deltas (at, tenant_id, queue, definition, queued, canceled, dead_letter)
select {now}, tenant_id, queue, definition, 1,
    case when state = 'canceled' then -1 else 0 end,
    case when state = 'dead_letter' then -1 else 0 end
from {wanted} m where m.free;

-- answer
select id, case when free then 'queued' else 'duplicate' end as state from {wanted} w;

delete from windlass_ended where id in (select id from {wanted} w where w.free)
