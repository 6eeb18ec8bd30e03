-- Ends waiting jobs at once, and asks running ones to stop.
-- The jobs leave their tables last, so that every statement finds the same ones waiting.

-- let ending
select j.* from {ids} i cross join windlass_live j on j.id = i.id and j.state = 'queued'
where :tenant_id is null or j.tenant_id = :tenant_id
union all
select j.* from {ids} i cross join windlass_later j on j.id = i.id
where :tenant_id is null or j.tenant_id = :tenant_id;

-- let edges
select p.child_id, p.parent_id, p.policy = 'cancel' as doomed
from {ending} e
cross join windlass_parents p on p.parent_id = e.id and not p.settled and p.policy <> 'wait'
where p.child_id not in (select id from {ending} e);

-- let free
k.waits <= s.parents and not k.held and not s.doomed and k.cancel_to is null;

-- let settling
select child_id, count(*) as parents, max(doomed) as doomed from {edges} e group by child_id;

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued, canceled,
    dead_letter)
select {now}, tenant_id, queue, definition, sum(pending), sum(queued), sum(canceled),
    sum(dead_letter)
from (
    select tenant_id, queue, definition,
        -count(*) filter (where state = 'pending') as pending,
        -count(*) filter (where state = 'queued') as queued,
        count(*) filter (where :to_state = 'canceled') as canceled,
        count(*) filter (where :to_state = 'dead_letter') as dead_letter
    from {ending} e group by tenant_id, queue, definition
    union all
    select k.tenant_id, k.queue, k.definition, -count(*), count(*), 0, 0
    from {settling} s cross join windlass_later k on k.id = s.child_id
    where {free} and k.state = 'pending'
    group by k.tenant_id, k.queue, k.definition
)
group by tenant_id, queue, definition;

insert into windlass_ended (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, waits, held, expires_at, attempts, max_attempts,
    worker_deaths, lease_token, worker_id, timeout_seconds, cancel_requested_at,
    cancel_requested_by, created_at, queued_at, started_at, last_started_at, finished_at,
    updated_at, progress, progress_note, outcome, last_error, error_type, error_class, error_trace,
    reason,
    log_sequence
)
select
    id, tenant_id, definition, queue, gate, :to_state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, waits, held, expires_at, attempts, max_attempts,
    worker_deaths, lease_token, worker_id, timeout_seconds, {now},
    :actor, created_at, queued_at, started_at, last_started_at, {now},
    {now}, progress, progress_note, outcome,
    case when :to_state = 'dead_letter' then :reason else last_error end,
    error_type, error_class, error_trace, coalesce(:reason, reason), log_sequence
from {ending} e;

delete from windlass_keys where (tenant_id, kind, key) in (
    select k.tenant_id, k.kind, k.key
    from {ending} e cross join windlass_keys k on k.job_id = e.id
    where k.kind = 'dedupe' and k.until <= {now});

update windlass_keys set open = 0 where (tenant_id, kind, key) in (
    select k.tenant_id, k.kind, k.key
    from {ending} e cross join windlass_keys k on k.job_id = e.id
    where k.kind = 'dedupe' and k.until > {now});

update windlass_later as k
set waits = k.waits - s.parents,
    unchecked = k.unchecked and k.waits > s.parents,
    state = case when {free} then 'queued' else k.state end,
    queued_at = case when {free} then {now} end,
    due_at = max(k.due_at, {now}),
    cancel_to = case when s.doomed then 'canceled' else k.cancel_to end,
    reason = case when s.doomed then 'a job it waited for did not complete' else k.reason end,
    updated_at = {now}
from {settling} s
where k.id = s.child_id and k.state = 'pending';

update windlass_parents set settled = 1
where (child_id, parent_id) in (select child_id, parent_id from {edges} e);

update windlass_parents set settled = 1 where child_id in (select id from {ending} e);

-- answer
select id, :to_state as state from {ending} e
union all
select j.id, 'running' from {ids} i cross
join windlass_live j on j.id = i.id and j.state = 'running'
where :tenant_id is null or j.tenant_id = :tenant_id;

update windlass_live
set cancel_requested_at = {now}, cancel_requested_by = :actor, cancel_to = :to_state,
    reason = :reason, updated_at = {now}
where id in (select id from {ids} i) and state = 'running'
    and (:tenant_id is null or tenant_id = :tenant_id) and cancel_requested_at is null;

delete from windlass_later where id in (select id from {ids} i)
    and (:tenant_id is null or tenant_id = :tenant_id);

delete from windlass_live where id in (select id from {ids} i) and state = 'queued'
    and (:tenant_id is null or tenant_id = :tenant_id)
