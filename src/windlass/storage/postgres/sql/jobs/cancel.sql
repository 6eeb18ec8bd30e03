-- Ends waiting jobs at once, and asks running ones to stop. A job that moves meanwhile is missed:
-- the caller looks again.
with waiting as (
    delete from windlass_live j
    where j.id = any(array(select id from {ids} i)) and j.state = 'queued'
        and (cast(:tenant_id as text) is null or j.tenant_id = :tenant_id)
    -- True if a child may have been stored that this statement does not see; see lock_parents.
    returning j.*, j.ctid is distinct
        from (select l.ctid from windlass_live l where l.id = j.id) as unseen
),
put_off as (
    delete from windlass_later j
    where j.id = any(array(select id from {ids} i))
        and (cast(:tenant_id as text) is null or j.tenant_id = :tenant_id)
    returning j.*, j.ctid is distinct
        from (select l.ctid from windlass_later l where l.id = j.id) as unseen
),
asked as (
    update windlass_live j
    set cancel_requested_at = {now}, cancel_requested_by = :actor, cancel_to = :to_state,
        reason = :reason, updated_at = {now}
    where j.id = any(array(select id from {ids} i)) and j.state = 'running'
        and (cast(:tenant_id as text) is null or j.tenant_id = :tenant_id)
        and j.cancel_requested_at is null
    returning j.id
),
ending as (
    select * from waiting union all select * from put_off
),
over as (
    insert into windlass_ended (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, waits, held, expires_at, attempts, max_attempts,
        worker_deaths, lease_token, worker_id, timeout_seconds, cancel_requested_at,
        cancel_requested_by, created_at, queued_at, started_at, last_started_at, finished_at,
        updated_at, progress, progress_note, outcome, last_error, error_type, error_class,
        error_trace, reason,
        log_sequence, unchecked
    )
    select
        id, tenant_id, definition, queue, gate, :to_state, priority, due_at, payload, metadata,
        source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, waits, held, expires_at, attempts, max_attempts,
        worker_deaths, lease_token, worker_id, timeout_seconds, {now},
        :actor, created_at, queued_at, started_at, last_started_at, {now},
        {now}, progress, progress_note, outcome,
        case when cast(:to_state as text) = 'dead_letter' then :reason else last_error end,
        error_type, error_class, error_trace, coalesce(:reason, reason), log_sequence, unseen
    from ending
),
unkeyed as (
    delete from windlass_keys k using ending e
    where k.job_id = e.id and k.kind = 'dedupe' and k.until <= {now}
),
closed as (
    update windlass_keys k set open = false from ending e
    where k.job_id = e.id and k.kind = 'dedupe' and k.until > {now}
),
settled as (
    update windlass_parents p set settled = true
    from ending e
    where p.parent_id = e.id and not p.settled and p.policy <> 'wait'
        and p.child_id <> all(array(select id from ending))
    returning p.child_id, p.policy = 'cancel' as doomed
),
waits_no_more as (
    update windlass_parents p set settled = true
    where p.child_id = any(array(select id from ending)) and not p.settled
),
children as (
    update windlass_later k
    set waits = k.waits - s.parents,
        state = case when k.waits <= s.parents and not k.held and not s.doomed
            and k.cancel_to is null then 'queued' else k.state end,
        queued_at = case when k.waits <= s.parents and not k.held and not s.doomed
            and k.cancel_to is null then {now} end,
        due_at = greatest(k.due_at, {now}),
        unchecked = k.unchecked and k.waits > s.parents,
        cancel_to = case when s.doomed then 'canceled' else k.cancel_to end,
        reason = case when s.doomed then 'a job it waited for did not complete' else k.reason end,
        updated_at = {now}
    from (select child_id, count(*) as parents, bool_or(doomed) as doomed
          from settled group by child_id) s
    where k.id = s.child_id and k.state = 'pending'
    returning k.tenant_id, k.queue, k.definition, k.state
),
counted as (
    insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued, canceled,
        dead_letter)
    select {now}, tenant_id, queue, definition, sum(pending), sum(queued), sum(canceled),
    sum(dead_letter)
    from (
        select tenant_id, queue, definition,
            -count(*) filter (where state = 'pending') as pending,
            -count(*) filter (where state = 'queued') as queued,
            count(*) filter (where cast(:to_state as text) = 'canceled') as canceled,
            count(*) filter (where cast(:to_state as text) = 'dead_letter') as dead_letter
        from ending group by tenant_id, queue, definition
        union all
        select tenant_id, queue, definition, -count(*), count(*), 0, 0
        from children where state = 'queued' group by tenant_id, queue, definition
    ) changes
    group by tenant_id, queue, definition
)
select id, cast(:to_state as text) as state from ending
union all
select id, 'running' from asked
union all
select id, 'running' from windlass_live
where id = any(array(select id from {ids} i)) and state = 'running'
    and cancel_requested_at is not null
    and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
