-- Gives waiting jobs another priority, queue, due time or metadata; what is null stays as it is. A
-- job that runs or has ended is left alone, and one that moves meanwhile is missed: the caller
-- looks again. One that gets a due time stands among those due later until then.
with in_line as (
    select j.id, j.tenant_id, j.definition, j.queue, j.state, j.priority, j.due_at
    from windlass_live j
    where j.id = any(array(select id from {ids} i)) and j.state = 'queued'
        and (cast(:tenant_id as text) is null or j.tenant_id = :tenant_id)
    order by j.id for update
),
put_off as (
    select j.id, j.tenant_id, j.definition, j.queue, j.state, j.priority, j.due_at
    from windlass_later j
    where j.id = any(array(select id from {ids} i))
        and (cast(:tenant_id as text) is null or j.tenant_id = :tenant_id)
    order by j.id for update
),
waiting as (
    select * from in_line union all select * from put_off
),
said as (
    select w.*,
        case
            when priority <> cast(:priority as integer) then ', priority ' || priority || ' to '
            || cast(:priority as integer) else '' end
        || case
            when queue <> cast(:queue as text) then ', queue ' || queue || ' to '
            || cast(:queue as text) else '' end
        || case
            when due_at <> cast(:due_at as timestamptz) then ', due ' || cast(:due_text as text)
            else '' end
        || case when cast(:metadata as text) is not null then ', metadata' else '' end as changes
    from waiting w
),
told as (
    insert into windlass_transitions (job_id, at, from_state, to_state, actor, message)
    select id, {now}, state, state, :actor, 'changed: ' || substr(changes, 3) from said
        where changes <> ''
),
counted as (
    insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued)
    select {now}, tenant_id, queue, definition,
        -count(*) filter (where state = 'pending'), -count(*) filter (where state = 'queued')
    from waiting where queue <> cast(:queue as text) group by tenant_id, queue, definition
    union all
    select {now}, tenant_id, cast(:queue as text), definition,
        count(*) filter (where state = 'pending'), count(*) filter (where state = 'queued')
    from waiting where queue <> cast(:queue as text) group by tenant_id, definition
),
taken as (
    delete from windlass_live j
    where cast(:due_at as timestamptz) is not null and j.id = any(array(select id from in_line))
    returning j.*
),
stored as (
    insert into windlass_later (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
        lease_token, worker_id, timeout_seconds, created_at, queued_at, started_at,
        last_started_at, updated_at, outcome, last_error, error_type, error_class, error_trace,
        reason, log_sequence
    )
    select
        m.id, m.tenant_id, m.definition, coalesce(cast(:queue as text), m.queue), m.gate, m.state,
        coalesce(cast(:priority as integer), m.priority), cast(:due_at as timestamptz), m.payload,
        coalesce(cast(cast(:metadata as text) as json), m.metadata), m.source,
        m.source_ref, m.correlation_id, m.created_by, m.trigger_id, m.trigger_due_at, m.dedupe_key,
        m.idempotency_key, m.on_parent_failure, m.expires_at, m.attempts, m.max_attempts,
        m.worker_deaths,
        m.lease_token, m.worker_id, m.timeout_seconds, m.created_at, m.queued_at, m.started_at,
        m.last_started_at, {now}, m.outcome, m.last_error, m.error_type, m.error_class,
        m.error_trace, m.reason, m.log_sequence
    from taken m
),
lined as (
    update windlass_live j
    set priority = coalesce(cast(:priority as integer), j.priority),
    queue = coalesce(cast(:queue as text), j.queue),
        metadata = coalesce(cast(cast(:metadata as text) as json), j.metadata), updated_at = {now}
    where cast(:due_at as timestamptz) is null and j.id = any(array(select id from in_line))
),
delayed as (
    update windlass_later j
    set priority = coalesce(cast(:priority as integer), j.priority),
    queue = coalesce(cast(:queue as text), j.queue),
        due_at = coalesce(cast(:due_at as timestamptz), j.due_at),
        metadata = coalesce(cast(cast(:metadata as text) as json), j.metadata), updated_at = {now}
    where j.id = any(array(select id from put_off))
)
select id, state from waiting
