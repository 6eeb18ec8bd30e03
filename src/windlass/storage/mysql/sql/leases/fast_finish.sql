-- Ends attempts of this worker that succeeded, of jobs that nothing waits for: `finish` in fewer
-- words and steps. `finish.py` runs these statements; where their first look finds anything else,
-- `finish` itself.

-- let ends
select id, token, result from json_table(@windlass_ends, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$[0]', token bigint path '$[1]',
    result longtext character set utf8mb4 path '$[2]')) n;

-- let ids
select id from json_table(@windlass_ends, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$[0]')) n;

-- A job under another lease must not be locked, not even for a moment: a claim would pass it by.
select {now}, count(*) into @windlass_now, @windlass_held
from {ends} f
straight_join windlass_live j force index (primary) on j.id = f.id and j.lease_token = f.token
where j.state = 'running' and j.worker_id = :worker_id;

select j.tenant_id, j.queue, j.definition, count(*) as ended,
    sum(j.dedupe_key is not null or j.idempotency_key is not null) as keyed,
    coalesce(sum(timestampdiff(microsecond, j.last_started_at, @windlass_now)) / 1000, 0) as run_ms
from {ends} f
straight_join windlass_live j force index (primary) on j.id = f.id and j.lease_token = f.token
where @windlass_held = :count and j.state = 'running' and j.worker_id = :worker_id
group by j.tenant_id, j.queue, j.definition
for update;

-- Only now that the jobs are locked: what was stored before that is seen.
select
    exists (select 1 from windlass_holds force index (primary) where job_id > '') and exists (
        select 1 from {ids} f
            straight_join windlass_holds h force index (primary) on h.job_id = f.id
        where @windlass_held = :count) as held,
    exists (select 1 from windlass_parents force index (primary) where child_id > '') and exists (
        select 1 from {ids} f
        straight_join windlass_parents p force index (windlass_parents_parent) on p.parent_id = f.id
        where @windlass_held = :count and p.settled = 0) as waited_for;

insert into windlass_ended (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
    lease_token, worker_id, timeout_seconds, cancel_requested_at, cancel_requested_by,
    created_at, queued_at, started_at, last_started_at, finished_at, updated_at, progress,
    progress_note, outcome, result, warnings, last_error, error_type, error_class, error_trace,
    reason,
    log_sequence
)
select
    j.id, j.tenant_id, j.definition, j.queue, j.gate, 'completed', j.priority, j.due_at, j.payload,
    j.metadata,
    j.source, j.source_ref, j.correlation_id, j.created_by, j.trigger_id, j.trigger_due_at,
    j.dedupe_key,
    j.idempotency_key, j.on_parent_failure, j.expires_at, j.attempts, j.max_attempts,
    j.worker_deaths,
    j.lease_token, j.worker_id, j.timeout_seconds, j.cancel_requested_at, j.cancel_requested_by,
    j.created_at, j.queued_at, j.started_at, j.last_started_at, @windlass_now, @windlass_now,
    coalesce(:progress, j.progress), j.progress_note, 'succeeded', f.result, :warnings,
    j.last_error, j.error_type, j.error_class, j.error_trace, j.reason, j.log_sequence
from {ends} f straight_join windlass_live j force index (primary) on j.id = f.id;

insert into windlass_deltas (at, tenant_id, queue, definition, running, completed, succeeded,
    run_ms)
select @windlass_now, tenant_id, queue, definition, -ended, ended, ended, run_ms
from json_table(:ended, '$[*]' columns (
    tenant_id varchar(191) character set utf8mb4 path '$[0]',
    queue varchar(191) character set utf8mb4 path '$[1]',
    definition varchar(191) character set utf8mb4 path '$[2]', ended integer path '$[3]',
    run_ms bigint path '$[4]')) t;

delete j from {ids} f straight_join windlass_live j force index (primary) on j.id = f.id;

delete h from {ids} f straight_join windlass_holds h force index (primary) on h.job_id = f.id;

delete k from {ids} f
straight_join windlass_keys k force index (windlass_keys_job) on k.job_id = f.id
where k.kind = 'dedupe' and k.until <= @windlass_now;

update {ids} f straight_join windlass_keys k force index (windlass_keys_job) on k.job_id = f.id
set k.open = 0
where k.kind = 'dedupe' and k.until > @windlass_now
