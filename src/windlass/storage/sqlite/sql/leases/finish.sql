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
--
-- The job leaves the line in the last statement, so that all statements find the same leases held.

-- let still_held
j.id = f.id and j.lease_token = f.token and j.state = 'running'
    and case when f.expired_only then j.lease_expires_at <= {now} else j.worker_id = :worker_id end;

-- let goes_to
case when f.state = 'completed' then f.state else coalesce(j.cancel_to, f.state) end;

-- let kept
f.keep or f.state = 'dead_letter' or j.cancel_to is 'dead_letter';

-- let error
case
    when f.state <> 'completed'
        and j.cancel_to = 'dead_letter' then coalesce(j.reason, f.error, j.last_error)
    else coalesce(f.error, j.last_error)
end;

-- let gone
select j.id from {finishes} f cross join windlass_live j on {still_held}
where not f.keep and not {kept} and {goes_to} <> 'queued';

-- let edges
select p.child_id, p.parent_id, p.policy = 'cancel' and {goes_to} <> 'completed' as doomed
from {finishes} f
cross join windlass_parents p on p.parent_id = f.id and not p.settled
cross join windlass_live j on {still_held}
where {goes_to} <> 'queued' and ({goes_to} = 'completed' or p.policy <> 'wait');

-- let waits_no_more
k.waits <= s.parents and not k.held and not s.doomed and k.cancel_to is null;

-- let settling
select child_id, count(*) as parents, max(doomed) as doomed from {edges} e group by child_id;

insert into windlass_deltas (
    at, tenant_id, queue, definition, pending, queued, running, completed, canceled,
    dead_letter, succeeded, failed, retried, run_ms
)
select {now}, tenant_id, queue, definition, sum(pending), sum(queued), sum(running),
    sum(completed), sum(canceled), sum(dead_letter), sum(succeeded), sum(failed), sum(retried),
    sum(run_ms)
from (
    select j.tenant_id, j.queue, j.definition,
        0 as pending,
        count(*) filter (where {goes_to} = 'queued') as queued,
        -count(*) as running,
        count(*) filter (where {goes_to} = 'completed' and {kept}) as completed,
        count(*) filter (where {goes_to} = 'canceled' and {kept}) as canceled,
        count(*) filter (where {goes_to} = 'dead_letter') as dead_letter,
        count(*) filter (where f.outcome = 'succeeded') as succeeded,
        count(*) filter (where f.outcome in ('failed', 'timed_out', 'lost')) as failed,
        count(*) filter (where f.outcome in ('failed', 'timed_out', 'lost')
            and {goes_to} = 'queued') as retried,
        sum({now} - j.last_started_at) / 1000 as run_ms
    from {finishes} f cross join windlass_live j on {still_held}
    group by j.tenant_id, j.queue, j.definition
    union all
    select k.tenant_id, k.queue, k.definition, -count(*), count(*), 0, 0, 0, 0, 0, 0, 0, 0
    from {settling} s cross join windlass_later k on k.id = s.child_id
    where {waits_no_more} and k.state = 'pending'
    group by k.tenant_id, k.queue, k.definition
)
group by tenant_id, queue, definition;

insert into windlass_later (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
    lease_token, worker_id, timeout_seconds, created_at, queued_at, started_at,
    last_started_at, updated_at, outcome, last_error, error_type, error_class, error_trace, reason,
    log_sequence
)
select
    j.id, j.tenant_id, j.definition, j.queue,
    -- A suspect whose attempt ended is none any more; see `core/leases/gates.py`.
    case
        when f.gate is not null then f.gate
        when f.outcome = 'released' or instr(j.gate, char(29)) = 0 then j.gate
        else rtrim(replace(replace(j.gate, char(29), ''), char(31) || char(30), char(30)), char(31))
    end, 'queued', j.priority,
    case when f.delay > 0 then {now} + cast(round(f.delay * 1000000) as integer) else j.due_at end,
    j.payload, j.metadata, j.source,
    j.source_ref, j.correlation_id, j.created_by, j.trigger_id, j.trigger_due_at, j.dedupe_key,
    j.idempotency_key, j.on_parent_failure,
    j.expires_at, j.attempts - (f.outcome = 'released' or f.uncounted is not null), j.max_attempts,
    j.worker_deaths + (f.outcome = 'lost' and f.spared is null),
    j.lease_token, j.worker_id, j.timeout_seconds, j.created_at, j.queued_at, j.started_at,
    j.last_started_at, {now},
    case when f.outcome = 'released' then j.outcome else f.outcome end,
    {error}, case when f.error is null then j.error_type else f.error_type end,
    case when f.error is null then j.error_class else f.error_class end,
    case when f.error is null then j.error_trace else f.error_trace end, j.reason, j.log_sequence
from {finishes} f cross join windlass_live j on {still_held}
where {goes_to} = 'queued';

insert into windlass_ended (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
    lease_token, worker_id, timeout_seconds, cancel_requested_at, cancel_requested_by,
    created_at, queued_at, started_at, last_started_at, finished_at, updated_at, progress,
    progress_note, outcome, result, warnings, last_error, error_type, error_class, error_trace,
    reason,
    log_sequence, fingerprint
)
select
    j.id, j.tenant_id, j.definition, j.queue, j.gate, {goes_to}, j.priority, j.due_at, j.payload,
    j.metadata, j.source,
    j.source_ref, j.correlation_id, j.created_by, j.trigger_id, j.trigger_due_at, j.dedupe_key,
    j.idempotency_key, j.on_parent_failure, j.expires_at,
    j.attempts - (f.outcome = 'released' or f.uncounted is not null),
    j.max_attempts, j.worker_deaths + (f.outcome = 'lost' and f.spared is null),
    j.lease_token, j.worker_id, j.timeout_seconds, j.cancel_requested_at, j.cancel_requested_by,
    j.created_at, j.queued_at, j.started_at, j.last_started_at, {now}, {now},
    coalesce(f.progress, j.progress), j.progress_note, f.outcome, f.result, f.warnings,
    {error}, case when f.error is null then j.error_type else f.error_type end,
    case when f.error is null then j.error_class else f.error_class end,
    case when f.error is null then j.error_trace else f.error_trace end, j.reason, j.log_sequence,
    case when f.state = 'dead_letter' and j.cancel_to is null then f.fingerprint end
from {finishes} f cross join windlass_live j on {still_held}
where {goes_to} <> 'queued' and {kept};

insert into windlass_attempts (
    job_id, number, worker_id, started_at, finished_at, outcome, error, error_type, error_class,
    error_trace,
    pid, exit_code, stdout_tail, stderr_tail
)
select j.id, j.lease_token, j.worker_id, j.last_started_at, {now}, f.outcome, f.error, f.error_type,
    f.error_class, f.error_trace, f.pid, f.exit_code, f.stdout_tail, f.stderr_tail
from {finishes} f cross join windlass_live j on {still_held}
-- The last try is told by the job's own row, as long as that says all there is.
where {goes_to} = 'queued' or {kept} and (
    f.exit_code is not null or f.stdout_tail is not null or f.stderr_tail is not null
    or f.pid is not null or {goes_to} <> 'completed' and f.error is not {error});

delete from windlass_attempts where job_id in {gone};
delete from windlass_transitions where job_id in {gone};
delete from windlass_logs where job_id in {gone};
delete from windlass_parents where child_id in {gone};

delete from windlass_holds where (job_id, name) in (
    select h.job_id, h.name
    from {finishes} f
    cross join windlass_holds h on h.job_id = f.id
    cross join windlass_live j on {still_held});

delete from windlass_keys where (tenant_id, kind, key) in (
    select k.tenant_id, k.kind, k.key
    from {finishes} f
    cross join windlass_keys k on k.job_id = f.id
    cross join windlass_live j on {still_held}
    where {goes_to} <> 'queued'
        and (k.kind = 'dedupe' and k.until <= {now}
             or k.kind = 'idempotency' and not {kept}));

update windlass_keys set open = 0 where (tenant_id, kind, key) in (
    select k.tenant_id, k.kind, k.key
    from {finishes} f
    cross join windlass_keys k on k.job_id = f.id
    cross join windlass_live j on {still_held}
    where {goes_to} <> 'queued' and k.kind = 'dedupe' and k.until > {now});

update windlass_later as k
set waits = k.waits - s.parents,
    unchecked = k.unchecked and k.waits > s.parents,
    state = case when {waits_no_more} then 'queued' else k.state end,
    queued_at = case when {waits_no_more} then {now} end,
    due_at = max(k.due_at, {now}),
    cancel_to = case when s.doomed then 'canceled' else k.cancel_to end,
    reason = case when s.doomed then 'a job it waited for did not complete' else k.reason end,
    updated_at = {now}
from {settling} s
where k.id = s.child_id and k.state = 'pending';

update windlass_parents set settled = 1
where (child_id, parent_id) in (select child_id, parent_id from {edges} e);

-- answer
select j.id, j.lease_token, {goes_to} as state
from {finishes} f cross join windlass_live j on {still_held};

delete from windlass_live where id in (
    select j.id from {finishes} f cross join windlass_live j on {still_held})
