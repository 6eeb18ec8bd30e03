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
-- let doomed
parents > 0
    and exists (select 1 from ended_parents o where o.id = storable.id and o.doomed);

with input as (
    select
        j.*,
        {now} as now_at,
        coalesce(j.due_at, {now} + coalesce(j.delay, 0) * interval '1 second') as due,
        coalesce(j.own_gate, d.gate) as gate,
        -- The status where it is known without storing the job.
        case
            when coalesce(
                (select 1 from windlass_live l where l.id = j.id),
                (select 1 from windlass_later l where l.id = j.id)
            ) = 1 then 'created'
            when d.key is null then 'unknown_definition'
            when not d.enabled then 'disabled_definition'
            when t.id is null or t.state = 'deleted' then 'unknown_tenant'
            when t.state <> 'active' then 'suspended_tenant'
            when j.parents > 0 and j.parents > (
                select count(*) from {parents} p
                where p.child_id = j.id
                    and exists (select 1 from windlass_jobs w
                                where w.id = p.parent_id and w.tenant_id = j.tenant_id)
            ) then 'unknown_parent'
        end as answer
    from {jobs} j
    -- Each limit keeps the planner from reading the whole table.
    left join lateral (
        select * from windlass_definitions where key = j.definition limit 1
    ) d on true
    left join lateral (select * from windlass_tenants where id = j.tenant_id limit 1) t on true
),
taken_idempotency_keys as (
    insert into windlass_keys (tenant_id, kind, key, job_id, until)
    select tenant_id, 'idempotency', idempotency_key, id, 'infinity'
    from input where answer is null and idempotency_key is not null
    order by tenant_id, idempotency_key, place
    on conflict do nothing
    returning job_id
),
taken_dedupe_keys as (
    insert into windlass_keys as k (tenant_id, kind, key, job_id, until)
    select tenant_id, 'dedupe', dedupe_key, id,
    now_at + coalesce(dedupe_window, 0) * interval '1 second'
    from (
        select *, row_number() over (partition by tenant_id, dedupe_key order by place) as turn
        from input
        where answer is null and dedupe_key is not null
            and (idempotency_key is null or id in (select job_id from taken_idempotency_keys))
    ) first_of_each
    where turn = 1
    order by tenant_id, dedupe_key
    on conflict (tenant_id, kind, key) do update
        set job_id = excluded.job_id, open = true, until = excluded.until
        where not k.open and k.until <= {now}
    returning job_id
),
storable as (
    select * from input i
    where answer is null
        and (idempotency_key is null or id in (select job_id from taken_idempotency_keys))
        and (dedupe_key is null or id in (select job_id from taken_dedupe_keys))
),
ended_parents as (
    select r.id, p.parent_id, e.state <> 'completed' and r.on_parent_failure = 'cancel' as doomed
    from {parents} p
    join storable r on r.id = p.child_id
    join windlass_ended e on e.id = p.parent_id
    where e.state = 'completed' or r.on_parent_failure <> 'wait'
),
stored_live as (
    insert into windlass_live (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, expires_at, max_attempts, timeout_seconds,
        created_at, queued_at, updated_at
    )
    select
        id, tenant_id, definition, queue, gate, 'queued', priority, due, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, now_at + expires * interval '1 second', max_attempts,
        timeout_seconds, now_at, now_at, now_at
    from storable where parents = 0 and not held and due <= now_at
    on conflict (id) do nothing
    returning tenant_id, queue, definition, state
),
stored_later as (
    insert into windlass_later (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, expires_at, max_attempts, timeout_seconds,
        waits, held, unchecked, cancel_to, reason, created_at, queued_at, updated_at
    )
    select
        id, tenant_id, definition, queue, gate,
        case when parents = 0 and not held then 'queued' else 'pending' end,
        priority, due, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
        idempotency_key, on_parent_failure, now_at + expires * interval '1 second', max_attempts,
        timeout_seconds,
        case when parents > 0
            then parents - (select count(*) from ended_parents o where o.id = storable.id)
            else 0 end,
        held, parents > 0,
        case when {doomed} then 'canceled' end,
        case when {doomed} then 'a job it waited for did not complete' end,
        now_at,
        case when parents = 0 and not held then now_at end, now_at
    from storable where parents > 0 or held or due > now_at
    on conflict (id) do nothing
    returning tenant_id, queue, definition, state
),
stored_edges as (
    insert into windlass_parents (child_id, parent_id, policy, settled)
    select p.child_id, p.parent_id, r.on_parent_failure,
        exists (select 1 from ended_parents o where o.id = p.child_id and o.parent_id = p.parent_id)
    from {parents} p join storable r on r.id = p.child_id
    on conflict do nothing
),
recorded_deltas as (
    insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued, enqueued)
    select {now}, tenant_id, queue, definition,
        count(*) filter (where state = 'pending'),
        count(*) filter (where state = 'queued'),
        count(*)
    from (select * from stored_live union all select * from stored_later) stored
    group by tenant_id, queue, definition
)
-- A job without a row here was created.
select
    i.id,
    coalesce(i.answer, 'existing') as status,
    case when i.answer is null then coalesce(
        (select k.job_id from windlass_keys k where k.tenant_id = i.tenant_id
            and k.kind = 'idempotency' and k.key = i.idempotency_key and k.job_id <> i.id),
        (select k.job_id from windlass_keys k where k.tenant_id = i.tenant_id
            and k.kind = 'dedupe' and k.key = i.dedupe_key and k.job_id <> i.id)
    ) end as existing_id
from input i
where i.answer <> 'created'
    or i.answer is null and (
        i.idempotency_key is not null and i.id not in (select job_id from taken_idempotency_keys)
        or i.dedupe_key is not null and i.id not in (select job_id from taken_dedupe_keys))
