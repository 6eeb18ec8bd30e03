-- Ends waiting jobs at once, and asks running ones to stop. A job that moves meanwhile is missed:
-- the caller looks again.

-- let waiting
select id from json_table(@windlass_waiting, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$')) n;

-- let put_off
select id from json_table(@windlass_put_off, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$')) n;

-- let asked
select id from json_table(@windlass_asked, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$')) n;

-- let ending
select id from {waiting} w union all select id from {put_off} p;

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

select {now} into @windlass_now;

select coalesce(json_arrayagg(j.id), '[]') into @windlass_waiting
from {ids} i straight_join windlass_live j force index (primary) on j.id = i.id
where j.state = 'queued' and (:tenant_id is null or j.tenant_id = :tenant_id)
for update;

select coalesce(json_arrayagg(j.id), '[]') into @windlass_asked
from {ids} i straight_join windlass_live j force index (primary) on j.id = i.id
where j.state = 'running' and (:tenant_id is null or j.tenant_id = :tenant_id)
for update;

select coalesce(json_arrayagg(j.id), '[]') into @windlass_put_off
from {ids} i straight_join windlass_later j force index (primary) on j.id = i.id
where :tenant_id is null or j.tenant_id = :tenant_id
for update;

update {asked} a straight_join windlass_live j force index (primary) on j.id = a.id
set j.cancel_requested_at = @windlass_now, j.cancel_requested_by = :actor, j.cancel_to = :to_state,
    j.reason = :reason, j.updated_at = @windlass_now
where j.cancel_requested_at is null;

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
    worker_deaths, lease_token, worker_id, timeout_seconds, @windlass_now,
    :actor, created_at, queued_at, started_at, last_started_at, @windlass_now,
    @windlass_now, progress, progress_note, outcome,
    case when :to_state = 'dead_letter' then :reason else last_error end,
    error_type, error_class, error_trace, coalesce(:reason, reason), log_sequence
from (
    select j.* from {waiting} w straight_join windlass_live j force index (primary) on j.id = w.id
    union all
    select j.* from {put_off} p straight_join windlass_later j force index (primary) on j.id = p.id
) e;

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued, canceled,
    dead_letter)
select @windlass_now, tenant_id, queue, definition, -sum(state = 'pending'), -sum(state = 'queued'),
    sum(:to_state = 'canceled'), sum(:to_state = 'dead_letter')
from (
    select j.tenant_id, j.queue, j.definition, j.state
    from {waiting} w straight_join windlass_live j force index (primary) on j.id = w.id
    union all
    select j.tenant_id, j.queue, j.definition, j.state
    from {put_off} p straight_join windlass_later j force index (primary) on j.id = p.id
) e
group by tenant_id, queue, definition;

delete j from {waiting} w straight_join windlass_live j force index (primary) on j.id = w.id;

delete j from {put_off} p straight_join windlass_later j force index (primary) on j.id = p.id;

delete k from {ending} e
straight_join windlass_keys k force index (windlass_keys_job) on k.job_id = e.id
where k.kind = 'dedupe' and k.until <= @windlass_now;

update {ending} e straight_join windlass_keys k force index (windlass_keys_job) on k.job_id = e.id
set k.open = 0
where k.kind = 'dedupe' and k.until > @windlass_now;

-- Jobs that have ended wait for no parent.
update {ending} e straight_join windlass_parents p force index (primary) on p.child_id = e.id
set p.settled = 1
where p.settled = 0;

-- Children that a transaction still open has stored are not waited for: they are looked at when
-- they are there.
select coalesce(json_arrayagg(json_array(p.child_id, p.parent_id, p.policy = 'cancel')),
    '[]') into @windlass_settled
from {ending} e
straight_join windlass_parents p force index (windlass_parents_parent) on p.parent_id = e.id
where p.settled = 0 and p.policy <> 'wait'
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
where p.settled = 0 and p.policy <> 'wait';

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
where k.state = 'pending'
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
    k.updated_at = @windlass_now;

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued)
select @windlass_now, k.tenant_id, k.queue, k.definition, -count(*), count(*)
from {children} c straight_join windlass_later k force index (primary) on k.id = c.id
where c.admitted = 1
group by k.tenant_id, k.queue, k.definition;

select id, :to_state as state from {ending} e
union all
select id, 'running' from {asked} a
