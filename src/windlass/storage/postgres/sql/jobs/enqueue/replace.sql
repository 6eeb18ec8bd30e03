-- Gives a job that waits the payload and the due time of a newer one, which is put off no longer
-- than :max_wait from when the job was made. A job that runs or has ended, is of another
-- definition, or was not made by :owner, if that is given, stays as it is. The history names each
-- who replaced it once, with the last time: a key may be replaced very often.
with waited as (
    update windlass_later m
    set payload = cast(:payload as json),
        gate = coalesce(cast(:own_gate as text),
            (select d.gate from windlass_definitions d where d.key = m.definition), m.gate),
        due_at = least(coalesce(cast(:due_at as timestamptz),
            {now} + cast(:delay as double precision) * interval '1 second'),
            m.created_at + cast(:max_wait as double precision) * interval '1 second'),
        updated_at = {now}
    where m.id = :id and m.tenant_id = :tenant_id and m.cancel_to is null
        and m.definition = :definition
        and (cast(:owner as text) is null or m.created_by = :owner)
    returning m.id, m.state
),
lined as (
    delete from windlass_live m
    where m.id = :id and m.tenant_id = :tenant_id and m.state = 'queued' and m.cancel_to is null
        and m.definition = :definition and (cast(:owner as text) is null or m.created_by = :owner)
    returning m.*
),
moved as (
    insert into windlass_later (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
        lease_token, worker_id, timeout_seconds, created_at, queued_at, started_at,
        last_started_at, updated_at, outcome, last_error, error_type, error_class, error_trace,
        reason, log_sequence
    )
    select
        m.id, m.tenant_id, m.definition, m.queue,
        coalesce(cast(:own_gate as text),
            (select d.gate from windlass_definitions d where d.key = m.definition), m.gate),
        'queued', m.priority,
        least(coalesce(cast(:due_at as timestamptz),
            {now} + cast(:delay as double precision) * interval '1 second'),
            m.created_at + cast(:max_wait as double precision) * interval '1 second'),
        cast(:payload as json), m.metadata, m.source,
        m.source_ref, m.correlation_id, m.created_by, m.trigger_id, m.trigger_due_at, m.dedupe_key,
        m.idempotency_key, m.on_parent_failure, m.expires_at, m.attempts, m.max_attempts,
        m.worker_deaths,
        m.lease_token, m.worker_id, m.timeout_seconds, m.created_at, m.queued_at, m.started_at,
        m.last_started_at, {now}, m.outcome, m.last_error, m.error_type, m.error_class,
        m.error_trace, m.reason,
        m.log_sequence
    from lined m
    returning id, state
),
replaced as (
    select id, state from waited union all select id, state from moved
),
noted_again as (
    update windlass_transitions t set at = {now}
    from replaced r
    where t.job_id = r.id and t.actor is not distinct from cast(:actor as text)
        and t.message = 'replaced by a newer job with its dedupe key'
    returning t.job_id
),
noted as (
    insert into windlass_transitions (job_id, at, from_state, to_state, actor, message)
    select id, {now}, state, state, :actor, 'replaced by a newer job with its dedupe key'
        from replaced
    where not exists (select 1 from noted_again)
)
select id from replaced
