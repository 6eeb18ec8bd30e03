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
-- note           JSON in a session variable. The second statement locks the jobs and notes where
--                each goes; later statements read the note. Their conditions on the note alone are
--                evaluated before any table is opened, and keep needless statements cheap

-- let still_held
j.state = 'running' and case when f.expired_only = 1 then j.lease_expires_at <= @windlass_now
    else j.worker_id = :worker_id end;

-- let goes_to
case when f.state = 'completed' then f.state else coalesce(j.cancel_to, f.state) end;

-- let keeps
f.keep = 1 or f.state = 'dead_letter' or coalesce(j.cancel_to, '') = 'dead_letter';

-- let error_told
case when f.state <> 'completed'
    and j.cancel_to = 'dead_letter' then coalesce(j.reason, f.error, j.last_error)
     else coalesce(f.error, j.last_error) end;

-- The job's own row is the record of its last attempt, where it has columns for all of it.

-- let untold
{goes_to} = 'queued' or {keeps} and (
    f.exit_code is not null or f.stdout_tail is not null or f.stderr_tail is not null
    or f.pid is not null or {goes_to} <> 'completed' and not f.error <=> {error_told});

-- let ending
select id, token, state, keep, outcome from json_table(@windlass_ending, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$[0]',
    state varchar(16) character set ascii collate ascii_bin path '$[1]', keep tinyint path '$[2]',
    outcome varchar(16) character set ascii collate ascii_bin path '$[3]',
    token bigint path '$[4]')) n;

-- let settled
select child_id, parent_id, doomed from json_table(@windlass_settled, '$[*]' columns (
    child_id char(36) character set ascii collate ascii_bin path '$[0]',
    parent_id char(36) character set ascii collate ascii_bin path '$[1]',
    doomed tinyint path '$[2]')) n;

-- let missed
select id from json_table(@windlass_missed, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$')) n;

-- let children
select id, parents, doomed, admitted, waiting from json_table(@windlass_children, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$[0]', parents integer path '$[1]',
    doomed tinyint path '$[2]', admitted tinyint path '$[3]', waiting integer path '$[4]')) n;

-- Do not lock a job under another lease, even briefly: a claim would skip it.
select {now}, coalesce(json_arrayagg(concat(f.id, ' ', f.token)), '[]') into @windlass_now,
    @windlass_stale
from {finishes} f
left join windlass_live j on j.id = f.id and j.lease_token = f.token and j.state = 'running'
    and (f.expired_only = 1 or j.worker_id = :worker_id)
where j.id is null;

/*M! set statement group_concat_max_len = 1073741824 for */
select coalesce(json_arrayagg(json_array(j.id, {goes_to}, {keeps}, f.outcome, j.lease_token,
    if({untold}, 'untold', ''), if({goes_to} <> 'queued' and not {keeps}, 'gone', ''),
    if(j.dedupe_key is null and j.idempotency_key is null, '', 'keyed'),
    -- These too lock what they find, and so see what was stored while this waited for the job.
    if(exists (select 1 from windlass_holds h force index (primary) where h.job_id = j.id
        for update), 'held', ''),
    if(exists (select 1 from windlass_parents p force index (windlass_parents_parent)
               where p.parent_id = j.id and p.settled = 0 for update skip locked)
        or exists (select 1 from windlass_parents p force index (windlass_parents_parent)
                   where p.parent_id = j.id and p.settled = 0), 'waited_for', ''))),
                       '[]') into @windlass_ending
from {finishes} f
straight_join windlass_live j force index (primary)
    on j.id = if(locate(concat('"', f.id, ' ', f.token, '"'), @windlass_stale) = 0, f.id, '')
        and j.lease_token = f.token
where {still_held}
for update;

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
        else trim(trailing char(31 using utf8mb4) from replace(replace(
            j.gate, char(29 using utf8mb4), ''), char(31, 30 using utf8mb4),
                char(30 using utf8mb4)))
    end, 'queued', j.priority,
    case when f.delay > 0 then @windlass_now + interval round(f.delay * 1000000) microsecond
        else j.due_at end,
    j.payload, j.metadata, j.source,
    j.source_ref, j.correlation_id, j.created_by, j.trigger_id, j.trigger_due_at, j.dedupe_key,
    j.idempotency_key, j.on_parent_failure, j.expires_at,
    j.attempts - case when f.outcome = 'released' or f.uncounted is not null then 1
        else 0 end, j.max_attempts,
    j.worker_deaths + case when f.outcome = 'lost' and f.spared is null then 1 else 0 end,
    j.lease_token, j.worker_id, j.timeout_seconds, j.created_at, j.queued_at, j.started_at,
    j.last_started_at, @windlass_now, case when f.outcome = 'released' then j.outcome
        else f.outcome end,
    {error_told}, case when f.error is null then j.error_type else f.error_type end,
    case when f.error is null then j.error_class else f.error_class end,
    case when f.error is null then j.error_trace else f.error_trace end, j.reason, j.log_sequence
from {finishes} f
straight_join windlass_live j force index (primary) on j.id = f.id and j.lease_token = f.token
where locate('"queued"', @windlass_ending) > 0
    and {still_held}
    and {goes_to} = 'queued';

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
    j.metadata,
    j.source, j.source_ref, j.correlation_id, j.created_by, j.trigger_id, j.trigger_due_at,
    j.dedupe_key,
    j.idempotency_key, j.on_parent_failure, j.expires_at,
    j.attempts - case when f.outcome = 'released' or f.uncounted is not null then 1
        else 0 end, j.max_attempts,
    j.worker_deaths + case when f.outcome = 'lost' and f.spared is null then 1 else 0 end,
    j.lease_token, j.worker_id, j.timeout_seconds, j.cancel_requested_at, j.cancel_requested_by,
    j.created_at, j.queued_at, j.started_at, j.last_started_at, @windlass_now, @windlass_now,
    coalesce(f.progress, j.progress), j.progress_note, f.outcome, f.result, f.warnings,
    {error_told}, case when f.error is null then j.error_type else f.error_type end,
    case when f.error is null then j.error_class else f.error_class end,
    case when f.error is null then j.error_trace else f.error_trace end, j.reason, j.log_sequence,
    case when f.state = 'dead_letter' and j.cancel_to is null then f.fingerprint end
from {finishes} f
straight_join windlass_live j force index (primary) on j.id = f.id and j.lease_token = f.token
where {still_held}
    and {goes_to} <> 'queued' and {keeps};

insert into windlass_attempts (
    job_id, number, worker_id, started_at, finished_at, outcome, error, error_type, error_class,
    error_trace,
    pid, exit_code, stdout_tail, stderr_tail
)
select j.id, j.lease_token, j.worker_id, j.last_started_at, @windlass_now, f.outcome, f.error,
    f.error_type,
    f.error_class, f.error_trace, f.pid, f.exit_code, f.stdout_tail, f.stderr_tail
from {finishes} f
straight_join windlass_live j force index (primary) on j.id = f.id and j.lease_token = f.token
where locate('"untold"', @windlass_ending) > 0
    and {still_held}
    and {untold};

delete a from {ending} e straight_join windlass_attempts a force index (primary) on a.job_id = e.id
where locate('"gone"', @windlass_ending) > 0 and e.state <> 'queued' and e.keep = 0;

delete t from {ending} e
straight_join windlass_transitions t force index (windlass_transitions_job) on t.job_id = e.id
where locate('"gone"', @windlass_ending) > 0 and e.state <> 'queued' and e.keep = 0;

delete l from {ending} e straight_join windlass_logs l force index (primary) on l.job_id = e.id
where locate('"gone"', @windlass_ending) > 0 and e.state <> 'queued' and e.keep = 0;

delete p from {ending} e straight_join windlass_parents p force index (primary) on p.child_id = e.id
where locate('"gone"', @windlass_ending) > 0 and e.state <> 'queued' and e.keep = 0;

delete h from {ending} e straight_join windlass_holds h force index (primary) on h.job_id = e.id
where locate('"held"', @windlass_ending) > 0;

delete k from {ending} e
straight_join windlass_keys k force index (windlass_keys_job) on k.job_id = e.id
where locate('"keyed"', @windlass_ending) > 0 and e.state <> 'queued'
    and (k.kind = 'dedupe' and k.until <= @windlass_now or k.kind = 'idempotency' and e.keep = 0);

update {ending} e straight_join windlass_keys k force index (windlass_keys_job) on k.job_id = e.id
set k.open = 0
where locate('"keyed"', @windlass_ending) > 0 and e.state <> 'queued'
    and k.kind = 'dedupe' and k.until > @windlass_now;

-- Children that a transaction still open has stored are not waited for: they are looked at when
-- they are there.
select coalesce(json_arrayagg(json_array(p.child_id, p.parent_id,
    p.policy = 'cancel' and e.state <> 'completed')), '[]') into @windlass_settled
from {ending} e
straight_join windlass_parents p force index (windlass_parents_parent) on p.parent_id = e.id
where locate('"waited_for"', @windlass_ending) > 0
    and p.settled = 0 and e.state <> 'queued' and (e.state = 'completed' or p.policy <> 'wait')
for update skip locked;

update {settled} s
straight_join windlass_parents p force index (primary) on p.child_id = s.child_id
    and p.parent_id = s.parent_id
set p.settled = 1
where @windlass_settled <> '[]';

-- Those that were locked for another reason are to be looked at again.
select coalesce(json_arrayagg(p.child_id), '[]') into @windlass_missed
from {ending} e
straight_join windlass_parents p force index (windlass_parents_parent) on p.parent_id = e.id
where locate('"waited_for"', @windlass_ending) > 0
    and p.settled = 0 and e.state <> 'queued' and (e.state = 'completed' or p.policy <> 'wait');

update {missed} m straight_join windlass_later k force index (primary) on k.id = m.id
set k.unchecked = 1
where @windlass_missed <> '[]' and k.state = 'pending';

select coalesce(json_arrayagg(json_array(k.id, s.parents, s.doomed,
    k.waits <= s.parents and k.held = 0 and s.doomed = 0 and k.cancel_to is null,
    k.waits - s.parents)), '[]') into @windlass_children
from (
    select child_id, count(*) as parents, max(doomed) as doomed from {settled} n
    group by child_id order by child_id
) s
straight_join windlass_later k force index (primary) on k.id = s.child_id
where @windlass_settled <> '[]' and k.state = 'pending'
for update;

update {children} c
straight_join windlass_later k force index (primary) on k.id = c.id
set k.waits = k.waits - c.parents,
    k.unchecked = k.unchecked and c.waiting > 0,
    k.state = case when c.admitted = 1 then 'queued' else k.state end,
    k.queued_at = case when c.admitted = 1 then @windlass_now end,
    k.due_at = greatest(k.due_at, @windlass_now),
    k.cancel_to = case when c.doomed = 1 then 'canceled' else k.cancel_to end,
    k.reason = case when c.doomed = 1 then 'a job it waited for did not complete' else k.reason end,
    k.updated_at = @windlass_now
where @windlass_children <> '[]';

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued)
select @windlass_now, k.tenant_id, k.queue, k.definition, -count(*), count(*)
from {children} c straight_join windlass_later k force index (primary) on k.id = c.id
where @windlass_children <> '[]' and c.admitted = 1
group by k.tenant_id, k.queue, k.definition;

insert into windlass_deltas (
    at, tenant_id, queue, definition, queued, running, completed, canceled, dead_letter,
    succeeded, failed, retried, run_ms
)
select @windlass_now, j.tenant_id, j.queue, j.definition, sum(e.state = 'queued'), -count(*),
    sum(e.state = 'completed' and e.keep = 1), sum(e.state = 'canceled' and e.keep = 1),
    sum(e.state = 'dead_letter'), sum(e.outcome = 'succeeded'),
    sum(e.outcome in ('failed', 'timed_out', 'lost')),
    sum(e.outcome in ('failed', 'timed_out', 'lost') and e.state = 'queued'),
    coalesce(sum(timestampdiff(microsecond, j.last_started_at, @windlass_now)) / 1000, 0)
from {ending} e straight_join windlass_live j force index (primary) on j.id = e.id
group by j.tenant_id, j.queue, j.definition;

delete j from {ending} e straight_join windlass_live j force index (primary) on j.id = e.id;

select id, token as lease_token, state from {ending} e
