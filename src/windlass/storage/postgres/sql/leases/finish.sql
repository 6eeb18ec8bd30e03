-- Ends attempts whose lease this worker still holds by its token, once, and moves each job on.
--
-- lease token    identifies the lease: a stale one, of an earlier lease of the job, changes nothing
-- expired_only   the reaper's report: the lease has run out, whichever worker holds it
-- state          where the job goes: 'queued' for a retry or release, else the state it ends in;

--                a requested cancellation wins over everything but success (cancel_to)
-- keep           whether an ended job is kept as history; dead letters always are
-- uncounted      the attempt does not count (released); spared: nor does the worker's death
-- hold           the row of a running job under a limit; it goes with the lease
-- edge           parent and child: settled once the parent's end counts for the child
-- doomed         a child that must be canceled because its parent failed
-- delta          a change of the counts, added up later
-- report         what :finishes says of one lease. The batch comes in two parts: the leases of
--                plain successes, and one JSON object by `id token` for all others. Neither needs a
--                join, so that no plan of one can go wrong

-- let report
(select f from asked) -> concat(j.id, ' ', j.lease_token);

-- let uncounted
f_outcome = 'released' or f ->> 'uncounted' is not null;

-- let worker_died
f_outcome = 'lost' and f ->> 'spared' is null;

-- let waits_no_more
k.waits <= s.parents and not k.held and not s.doomed and k.cancel_to is null;

with asked as (
    select cast(cast(:finishes__by_lease as text) as jsonb) as f
),
left_line as (
    delete from windlass_live j
    where j.id = any(
            cast(:finishes__plain_ids as uuid[])
            || array(select cast(split_part(k, ' ', 1) as uuid)
                from jsonb_object_keys((select f from asked)) k))
        and j.state = 'running'
        and case
            when (j.id, j.lease_token) in (
                select * from unnest(
                    cast(:finishes__plain_ids as uuid[]), cast(:finishes__plain_tokens as bigint[])
                )
            ) then j.worker_id = :worker_id
            else case cast({report} ->> 'expired_only' as boolean)
                when false then j.worker_id = :worker_id
                when true then j.lease_expires_at <= {now}
                else false  -- another lease than the reported one
            end
        end
    returning j.*,
        case when (select f from asked) <> '{}' then {report} end as f,
        -- A child or a log line stored since this statement began is invisible to it, but storing
        -- it has moved the row; see lock_parents and unchecked. Keep such a job until it is pruned.
        case when j.unchecked or cast({report} ->> 'keep' as boolean) = false
            then j.ctid is distinct from (select l.ctid from windlass_live l where l.id = j.id)
            else false
        end as moved
),
ending as (
    select j.*,
        coalesce(f ->> 'outcome', 'succeeded') as f_outcome,
        f ->> 'error' as f_error,
        cast(f ->> 'delay' as double precision) as f_delay,
        coalesce(cast(f ->> 'keep' as boolean), true) or f ->> 'state' = 'dead_letter'
            or coalesce(j.cancel_to, '') = 'dead_letter' or j.moved as f_keep,
        case
            when f ->> 'state' <> 'completed' and j.cancel_to = 'dead_letter'
            then coalesce(j.reason, f ->> 'error', j.last_error)
            else coalesce(f ->> 'error', j.last_error)
        end as e_error,
        case when coalesce(f ->> 'state', 'completed') = 'completed' then 'completed'
            else coalesce(j.cancel_to, f ->> 'state') end as f_state
    from left_line j
),
requeued as (
    insert into windlass_later (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
        lease_token, worker_id, timeout_seconds, created_at, queued_at, started_at,
        last_started_at, updated_at, outcome, last_error, error_type, error_class, error_trace,
        reason, log_sequence
    )
    select
        id, tenant_id, definition, queue,
        -- The end of its attempt clears a suspect; see `core/leases/gates.py`.
        case
            when f ->> 'gate' is not null then f ->> 'gate'
            when f_outcome = 'released' or strpos(gate, chr(29)) = 0 then gate
            else rtrim(replace(replace(gate, chr(29), ''), chr(31) || chr(30), chr(30)), chr(31))
        end, 'queued', priority,
        case when f_delay > 0 then {now} + f_delay * interval '1 second' else due_at end,
        payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure,
        expires_at, attempts - case when {uncounted} then 1 else 0 end, max_attempts,
        worker_deaths + case when {worker_died} then 1 else 0 end,
        lease_token, worker_id, timeout_seconds, created_at, queued_at, started_at,
        last_started_at, {now},
        case when f_outcome = 'released' then outcome else f_outcome end,
        e_error, case when f_error is null then error_type else f ->> 'error_type' end,
        case when f_error is null then error_class else f ->> 'error_class' end,
        case when f_error is null then error_trace
            else f ->> 'error_trace' end, reason, log_sequence
    from ending where f_state = 'queued'
),
ended as (
    insert into windlass_ended (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
        lease_token, worker_id, timeout_seconds, cancel_requested_at, cancel_requested_by,
        created_at, queued_at, started_at, last_started_at, finished_at, updated_at, progress,
        progress_note, outcome, result, warnings, last_error, error_type, error_class, error_trace,
        reason,
        log_sequence, unchecked, fingerprint
    )
    select
        id, tenant_id, definition, queue, gate, f_state, priority, due_at, payload, metadata,
        source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, expires_at,
        attempts - case when {uncounted} then 1 else 0 end,
        max_attempts, worker_deaths + case when {worker_died} then 1 else 0 end,
        lease_token, worker_id, timeout_seconds, cancel_requested_at, cancel_requested_by,
        created_at, queued_at, started_at, last_started_at, {now}, {now},
        case when f is null then 1
            else coalesce(cast(f ->> 'progress' as double precision), progress) end, progress_note,
        f_outcome, cast(f ->> 'result' as json), cast(f ->> 'warnings' as json),
        e_error, case when f_error is null then error_type else f ->> 'error_type' end,
        case when f_error is null then error_class else f ->> 'error_class' end,
        case when f_error is null then error_trace
            else f ->> 'error_trace' end, reason, log_sequence, unchecked and moved,
        case when f ->> 'state' = 'dead_letter' and cancel_to is null then f ->> 'fingerprint' end
    from ending where f_state <> 'queued' and f_keep
),
recorded_attempts as (
    insert into windlass_attempts (
        job_id, number, worker_id, started_at, finished_at, outcome, error, error_type,
        error_class, error_trace,
        pid, exit_code, stdout_tail, stderr_tail
    )
    select id, lease_token, worker_id, last_started_at, {now}, f_outcome, f_error,
    f ->> 'error_type',
        f ->> 'error_class', f ->> 'error_trace', cast(f ->> 'pid' as integer),
        cast(f ->> 'exit_code' as integer), f ->> 'stdout_tail', f ->> 'stderr_tail'
    from ending
    -- The job's own row is the record of its last attempt, where it has columns for all of it.
    where f is not null and (f_state = 'queued' or f_keep and (
        cast(f ->> 'exit_code' as integer) is not null or f ->> 'stdout_tail' is not null
            or f ->> 'stderr_tail' is not null
        or cast(f ->> 'pid' as integer) is not null or f_state <> 'completed'
            and f_error is distinct from e_error))
),
not_kept as (
    select id from ending where f_state <> 'queued' and not f_keep
),
without_attempts as (
    delete from windlass_attempts where job_id = any(array(select id from not_kept))
),
without_transitions as (
    delete from windlass_transitions where job_id = any(array(select id from not_kept))
),
without_logs as (
    delete from windlass_logs where job_id = any(array(select id from not_kept))
),
without_edges as (
    delete from windlass_parents where child_id = any(array(select id from not_kept))
),
ended_holds as (
    delete from windlass_holds
    where job_id = any(array(select id from ending where exists (select from windlass_holds)))
),
ended_with_keys as (
    select id, f_keep from ending
    where f_state <> 'queued' and (dedupe_key is not null or idempotency_key is not null)
),
freed_keys as (
    delete from windlass_keys k using ended_with_keys e
    where k.job_id = e.id and k.job_id = any(array(select id from ended_with_keys))
        and (k.kind = 'dedupe' and k.until <= {now} or k.kind = 'idempotency' and not e.f_keep)
),
closed_keys as (
    update windlass_keys k set open = false from ended_with_keys e
    where k.job_id = e.id and k.job_id = any(array(select id from ended_with_keys))
        and k.kind = 'dedupe' and k.until > {now}
),
ended_parents as (
    select id, f_state from ending
    where f_state <> 'queued' and exists (select from windlass_parents)
),
settled_edges as (
    update windlass_parents p set settled = true
    from ended_parents e
    where p.parent_id = e.id and p.parent_id = any(array(select id from ended_parents))
        and not p.settled
        and (e.f_state = 'completed' or p.policy <> 'wait')
    returning p.child_id, p.parent_id, p.policy = 'cancel' and e.f_state <> 'completed' as doomed
),
children as (
    update windlass_later k
    set waits = k.waits - s.parents,
        state = case when {waits_no_more} then 'queued' else k.state end,
        queued_at = case when {waits_no_more} then {now} end,
        due_at = greatest(k.due_at, {now}),
        unchecked = k.unchecked and k.waits > s.parents,
        cancel_to = case when s.doomed then 'canceled' else k.cancel_to end,
        reason = case when s.doomed then 'a job it waited for did not complete' else k.reason end,
        updated_at = {now}
    from (select child_id, count(*) as parents, bool_or(doomed) as doomed
          from settled_edges group by child_id) s
    where k.id = s.child_id and k.id = any(array(select child_id from settled_edges))
        and k.state = 'pending'
    returning k.tenant_id, k.queue, k.definition, k.state
),
recorded_deltas as (
    insert into windlass_deltas (
        at, tenant_id, queue, definition, pending, queued, running, completed, canceled,
        dead_letter, succeeded, failed, retried, run_ms
    )
    select {now}, tenant_id, queue, definition, sum(pending), sum(queued), sum(running),
        sum(completed), sum(canceled), sum(dead_letter), sum(succeeded), sum(failed), sum(retried),
        sum(run_ms)
    from (
        select tenant_id, queue, definition,
            0 as pending,
            count(*) filter (where f_state = 'queued') as queued,
            -count(*) as running,
            count(*) filter (where f_state = 'completed' and f_keep) as completed,
            count(*) filter (where f_state = 'canceled' and f_keep) as canceled,
            count(*) filter (where f_state = 'dead_letter') as dead_letter,
            count(*) filter (where f_outcome = 'succeeded') as succeeded,
            count(*) filter (where f_outcome in ('failed', 'timed_out', 'lost')) as failed,
            count(*) filter (where f_outcome in ('failed', 'timed_out', 'lost')
                and f_state = 'queued') as retried,
            cast(coalesce(sum(extract(epoch from {now} - last_started_at)) * 1000,
                0) as bigint) as run_ms
        from ending group by tenant_id, queue, definition
        union all
        select tenant_id, queue, definition, -count(*), count(*), 0, 0, 0, 0, 0, 0, 0, 0
        from children where state = 'queued' group by tenant_id, queue, definition
    ) changes
    group by tenant_id, queue, definition
)
select id, lease_token, f_state as state from ending
