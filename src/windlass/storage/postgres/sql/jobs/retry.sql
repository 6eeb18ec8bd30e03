-- Puts a dead-lettered or canceled job in line again with fresh attempts, unless an open job has
-- its key. With a payload given it is an edit: of the job as it was dead-lettered with this token,
-- no other.
with wanted as (
    select * from windlass_ended
    where id = :id and state in ('dead_letter', 'canceled')
        and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
        and (cast(:payload as json) is null or state = 'dead_letter'
            and lease_token = cast(:token as bigint))
    for update
),
deduped as (
    insert into windlass_keys as k (tenant_id, kind, key, job_id, until)
    select tenant_id, 'dedupe', coalesce(cast(:dedupe_key as text), dedupe_key), id, {now}
        from wanted where dedupe_key is not null
    on conflict (tenant_id, kind, key) do update set job_id = excluded.job_id, open = true
        where not k.open or k.job_id = excluded.job_id
    returning job_id
),
moved as (
    delete from windlass_ended e using wanted w
    where e.id = w.id and (w.dedupe_key is null or w.id in (select job_id from deduped))
    returning e.*
),
stored as (
    insert into windlass_live (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, max_attempts, lease_token, worker_id,
        timeout_seconds, created_at, queued_at, started_at, last_started_at, updated_at,
        last_error, error_type, error_class, error_trace, log_sequence
    )
    select
        m.id, m.tenant_id, m.definition, m.queue, case
            when cast(:payload as json) is not null
                then coalesce(cast(:own_gate as text), d.gate, m.gate)
            when m.gate in ('', m.definition) then coalesce(d.gate, m.gate)
            else m.gate end, 'queued', m.priority, {now},
        coalesce(cast(:payload as json), m.payload), m.metadata, m.source,
        m.source_ref, m.correlation_id, m.created_by, m.trigger_id, m.trigger_due_at,
        coalesce(cast(:dedupe_key as text), m.dedupe_key),
        m.idempotency_key, m.on_parent_failure, m.max_attempts, m.lease_token, m.worker_id,
        m.timeout_seconds, m.created_at, coalesce(m.queued_at, {now}), m.started_at,
        m.last_started_at, {now},
        m.last_error, m.error_type, m.error_class, m.error_trace, m.log_sequence
    from moved m left join windlass_definitions d on d.key = m.definition
),
tried as (
    insert into windlass_attempts (
        job_id, number, worker_id, started_at, finished_at, outcome, error, error_type,
        error_class, error_trace
    )
    select id, lease_token, worker_id, last_started_at, finished_at, outcome, last_error,
    error_type, error_class, error_trace
    from moved where outcome is not null and last_started_at is not null
    on conflict do nothing
),
told as (
    insert into windlass_transitions (job_id, at, from_state, to_state, actor, message)
    select m.id, m.finished_at,
        case
            when m.queued_at is null then 'pending'
            when m.last_started_at is null then 'queued'
            -- Its last try ended before the job did: it was waiting for another.
            when exists (select 1 from windlass_attempts a where a.job_id = m.id
                         and a.number = m.lease_token and a.finished_at < m.finished_at)
                             then 'queued'
            else 'running'
        end,
        m.state, m.cancel_requested_by, coalesce(m.reason, m.last_error)
    from moved m
    union all
    select id, {now}, state, 'queued', :actor, :message from moved
),
counted as (
    insert into windlass_deltas (at, tenant_id, queue, definition, queued, canceled, dead_letter)
    select {now}, tenant_id, queue, definition, 1,
        case when state = 'canceled' then -1 else 0 end,
        case when state = 'dead_letter' then -1 else 0 end
    from moved
)
select id, 'queued' as state from moved
union all
select id, 'duplicate' from wanted where id not in (select id from moved)
