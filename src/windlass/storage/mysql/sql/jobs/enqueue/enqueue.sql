-- Stores each job that may be stored, once, and returns the status of the others.
--
-- status      'created', 'existing' (a key of the job is taken) or why the job was rejected
-- key         dedupe or idempotency key: one open job of a tenant has it. A key that a concurrent
--             transaction takes is waited for, so that two enqueues never both win it
-- live        the table of jobs in line: due, without parents to wait for, not on hold
-- later       the table of all others: due later, pending for parents, or on hold
-- gate        a line of its own for the jobs of a limited or disabled definition, or of a limit key
-- edge        parent and child. A parent that has ended counts at once: it may be pruned before
--             the next look
-- doomed      a child that must be canceled because its parent failed
-- unchecked   a child whose parents may have ended while it was being stored; upkeep looks at it
-- delta       a change of the counts, added up later
-- note        JSON in a session variable. What is decided by reading is noted first, by
--             `select ... into`: every other statement, `set` included, may lock all that it reads,
--             in a caller's transaction also the gap where new jobs go. Conditions on the note
--             alone are evaluated before any table is opened, and keep needless statements cheap

-- Under READ COMMITTED a plain read sees keys committed up to now, so it need not lock the key of
-- an existing job, for which the end of that job would wait.

-- let sees_all
/*M! @@tx_isolation */ /*!80003 @@transaction_isolation */ = 'READ-COMMITTED';

-- let orphans
select distinct place from json_table(@windlass_orphans, '$[*]' columns (place integer path '$')) n;

-- let ended_parents
select child_id, parent_id, doomed from json_table(@windlass_over, '$[*]' columns (
    child_id char(36) character set ascii collate ascii_bin path '$[0]',
    parent_id char(36) character set ascii collate ascii_bin path '$[1]',
    doomed tinyint path '$[2]')) n
where child_id is not null;

-- let input
select place, id, answer, gate, due, goes_to from json_table(@windlass_input, '$[*]' columns (
    place integer path '$[0]', id char(36) character set ascii collate ascii_bin path '$[1]',
    answer varchar(32) character set ascii collate ascii_bin path '$[2]',
    goes_to varchar(16) character set ascii collate ascii_bin path '$[3]',
    due datetime(6) path '$[4]', gate varchar(255) character set utf8mb4 path '$[5]')) n;

-- The limit makes the server materialize this as a table with a key.

-- let by_place
select * from {input} n limit 1000000000;

select {now}, uuid_short() into @windlass_now, @windlass_batch;

/*M! set statement group_concat_max_len = 1073741824 for */
select
    coalesce(json_arrayagg(case when a.id is null and b.id is null
        and c.id is null then p.place end), '[]'),
    coalesce(json_arrayagg(case when c.state = 'completed' or j.on_parent_failure <> 'wait'
        and c.id is not null
        then json_array(p.child_id, p.parent_id, c.state <> 'completed'
            and j.on_parent_failure = 'cancel') end), '[]')
into @windlass_orphans, @windlass_over
from {parents} p
straight_join (select place, tenant_id, on_parent_failure from {jobs} g
    limit 1000000000) j on j.place = p.place
left join windlass_live a on a.id = p.parent_id and a.tenant_id = j.tenant_id
left join windlass_later b on b.id = p.parent_id and b.tenant_id = j.tenant_id
left join windlass_ended c on c.id = p.parent_id and c.tenant_id = j.tenant_id
where :parents <> '[]';

/*M! set statement group_concat_max_len = 1073741824 for */
select coalesce(json_arrayagg(json_array(
    j.place, j.id,
    case
        when a.id is not null or b.id is not null or c.id is not null then 'created'
        when d.`key` is null then 'unknown_definition'
        when d.enabled = 0 then 'disabled_definition'
        when t.id is null or t.state = 'deleted' then 'unknown_tenant'
        when t.state <> 'active' then 'suspended_tenant'
        when o.place is not null then 'unknown_parent'
        when {sees_all} and (x.job_id is not null or y.job_id is not null) then 'existing'
    end,
    case when j.parents = 0 and j.held = 0
        and coalesce(j.due_at <= @windlass_now, coalesce(j.delay, 0) <= 0) then 'live'
            else 'later' end,
    coalesce(j.due_at, @windlass_now + interval round(coalesce(j.delay, 0) * 1000000) microsecond),
    coalesce(j.own_gate, d.gate),
    if(j.dedupe_key is null and j.idempotency_key is null, '', 'keyed'))),
        '[]') into @windlass_input
from {jobs} j
left join windlass_definitions d on d.`key` = j.definition
left join windlass_tenants t on t.id = j.tenant_id
left join windlass_live a on a.id = j.id
left join windlass_later b on b.id = j.id
left join windlass_ended c on c.id = j.id
left join {orphans} o on o.place = j.place
left join windlass_keys x on x.tenant_id = j.tenant_id and x.kind = 'idempotency'
    and x.`key` = j.idempotency_key
left join windlass_keys y on y.tenant_id = j.tenant_id and y.kind = 'dedupe'
    and y.`key` = j.dedupe_key and (y.open = 1 or y.until > @windlass_now);

insert into windlass_keys (tenant_id, kind, `key`, job_id, until)
select j.tenant_id, 'idempotency', j.idempotency_key, j.id, '9999-12-31'
from {jobs} j straight_join {by_place} i on i.place = j.place
where locate('"keyed"', @windlass_input) > 0 and i.answer is null and j.idempotency_key is not null
order by j.tenant_id, j.idempotency_key, j.place
on duplicate key update job_id = windlass_keys.job_id;

insert into windlass_keys (tenant_id, kind, `key`, job_id, until)
select j.tenant_id, 'dedupe', j.dedupe_key, j.id,
    @windlass_now + interval round(coalesce(j.dedupe_window, 0) * 1000000) microsecond
from {jobs} j straight_join {by_place} i on i.place = j.place
left join windlass_keys k
    on k.tenant_id = j.tenant_id and k.kind = 'idempotency' and k.`key` = j.idempotency_key
where locate('"keyed"', @windlass_input) > 0 and i.answer is null and j.dedupe_key is not null
    and (j.idempotency_key is null or k.job_id = j.id)
order by j.tenant_id, j.dedupe_key, j.place
on duplicate key update
    -- In this order: each sees what those before it have set.
    job_id = if(windlass_keys.open = 0 and windlass_keys.until <= @windlass_now,
        values(job_id), windlass_keys.job_id),
    until = if(windlass_keys.open = 0 and windlass_keys.until <= @windlass_now,
        values(until), windlass_keys.until),
    open = if(windlass_keys.job_id = values(job_id), 1, windlass_keys.open);

/*M! set statement group_concat_max_len = 1073741824 for */
select if(locate('"keyed"', @windlass_input) = 0, @windlass_input,
    coalesce(json_arrayagg(json_array(
    i.place, i.id,
    case
        when i.answer is not null then i.answer
        when j.idempotency_key is not null and not k.job_id <=> j.id
            or j.dedupe_key is not null and not d.job_id <=> j.id then 'existing'
    end,
    i.goes_to, i.due, i.gate)), '[]')) into @windlass_input
from {jobs} j straight_join {by_place} i on i.place = j.place
left join windlass_keys k
    on k.tenant_id = j.tenant_id and k.kind = 'idempotency' and k.`key` = j.idempotency_key
left join windlass_keys d
    on d.tenant_id = j.tenant_id and d.kind = 'dedupe' and d.`key` = j.dedupe_key
where locate('"keyed"', @windlass_input) > 0;

insert into windlass_live (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, max_attempts, timeout_seconds,
    created_at, queued_at, updated_at, batch, room
)
select
    j.id, j.tenant_id, j.definition, j.queue, i.gate, 'queued', j.priority, i.due, j.payload,
    j.metadata, j.source,
    j.source_ref, j.correlation_id, j.created_by, j.trigger_id, j.trigger_due_at, j.dedupe_key,
    j.idempotency_key, j.on_parent_failure,
    @windlass_now + interval round(j.expires * 1000000) microsecond,
    j.max_attempts, j.timeout_seconds, @windlass_now, @windlass_now, @windlass_now,
    @windlass_batch, repeat('-', 48)
from {jobs} j straight_join {by_place} i on i.place = j.place
where locate('"live"', @windlass_input) > 0 and i.answer is null and i.goes_to = 'live'
on duplicate key update windlass_live.id = windlass_live.id;

insert into windlass_later (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, max_attempts, timeout_seconds,
    waits, held, unchecked, created_at, queued_at, updated_at, batch
)
select
    j.id, j.tenant_id, j.definition, j.queue, i.gate,
    case when j.parents = 0 and j.held = 0 then 'queued' else 'pending' end,
    j.priority, i.due, j.payload, j.metadata, j.source,
    j.source_ref, j.correlation_id, j.created_by, j.trigger_id, j.trigger_due_at, j.dedupe_key,
    j.idempotency_key, j.on_parent_failure,
    @windlass_now + interval round(j.expires * 1000000) microsecond,
    j.max_attempts, j.timeout_seconds, j.parents, j.held, j.parents > 0, @windlass_now,
    case when j.parents = 0 and j.held = 0 then @windlass_now end, @windlass_now, @windlass_batch
from {jobs} j straight_join {by_place} i on i.place = j.place
where locate('"later"', @windlass_input) > 0 and i.answer is null and i.goes_to = 'later'
on duplicate key update windlass_later.id = windlass_later.id;

insert into windlass_parents (child_id, parent_id, policy)
select p.child_id, p.parent_id, k.on_parent_failure
from {parents} p
straight_join {by_place} i on i.place = p.place
straight_join windlass_later k force index (primary) on k.id = i.id
where :parents <> '[]' and i.answer is null and k.batch = @windlass_batch
on duplicate key update windlass_parents.policy = windlass_parents.policy;

update (select child_id, count(*) as parents, max(doomed) as doomed from {ended_parents} o
    group by child_id) s
straight_join windlass_later k force index (primary) on k.id = s.child_id
    and k.batch = @windlass_batch
set k.waits = k.waits - s.parents,
    k.cancel_to = case when s.doomed = 1 then 'canceled' end,
    k.reason = case when s.doomed = 1 then 'a job it waited for did not complete' end
where :parents <> '[]';

update {ended_parents} o
straight_join windlass_later k force index (primary) on k.id = o.child_id
    and k.batch = @windlass_batch
straight_join windlass_parents p force index (primary) on p.child_id = o.child_id
    and p.parent_id = o.parent_id
set p.settled = 1
where :parents <> '[]';

insert into windlass_deltas (at, tenant_id, queue, definition, queued, enqueued)
select @windlass_now, l.tenant_id, l.queue, l.definition, count(*), count(*)
from {input} i straight_join windlass_live l force index (primary) on l.id = i.id
where locate('"live"', @windlass_input) > 0 and i.answer is null and i.goes_to = 'live'
    and l.batch = @windlass_batch
group by l.tenant_id, l.queue, l.definition;

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued, enqueued)
select @windlass_now, l.tenant_id, l.queue, l.definition, sum(l.state = 'pending'),
    sum(l.state = 'queued'),
    count(*)
from {input} i straight_join windlass_later l force index (primary) on l.id = i.id
where locate('"later"', @windlass_input) > 0 and i.answer is null and i.goes_to = 'later'
    and l.batch = @windlass_batch
group by l.tenant_id, l.queue, l.definition;

select id, coalesce(answer, 'created') as status, null as existing_id from {input} i
