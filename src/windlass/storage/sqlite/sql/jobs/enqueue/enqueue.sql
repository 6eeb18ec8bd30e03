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
--
-- Keys are taken first; from then on a job may be stored if its keys are its own. Whether a job is
-- due is decided once, by the insert into later: in a caller's transaction the clock goes on from
-- statement to statement.

-- let input
select
    a.*,
    coalesce(a.due_at, {now} + cast(round(coalesce(a.delay, 0) * 1000000) as integer)) as due,
    coalesce(a.own_gate, d.gate) as gate,
    case
        when d.key is null then 'unknown_definition'
        when not d.enabled then 'disabled_definition'
        when t.id is null or t.state = 'deleted' then 'unknown_tenant'
        when t.state <> 'active' then 'suspended_tenant'
        when a.parents > 0 and a.parents > (
            select count(*) from {parents} p
            where p.child_id = a.id
                and exists (select 1 from windlass_jobs w
                            where w.id = p.parent_id and w.tenant_id = a.tenant_id)
        ) then 'unknown_parent'
    end as refused
from {jobs} a
left join windlass_definitions d on d.key = a.definition
left join windlass_tenants t on t.id = a.tenant_id;

-- let ended_parents
select 1 from {parents} p cross join windlass_ended e on e.id = p.parent_id
where p.child_id = r.id and (e.state = 'completed' or r.on_parent_failure <> 'wait');

-- let doomed
r.parents > 0 and r.on_parent_failure = 'cancel' and exists (
    select 1 from {parents} p cross join windlass_ended e on e.id = p.parent_id
    where p.child_id = r.id and e.state <> 'completed');

-- let storable
select i.* from {input} i
where i.refused is null
    and (i.idempotency_key is null
         or exists (select 1 from windlass_keys k where k.tenant_id = i.tenant_id
                    and k.kind = 'idempotency' and k.key = i.idempotency_key and k.job_id = i.id))
    and (i.dedupe_key is null
         or exists (select 1 from windlass_keys k where k.tenant_id = i.tenant_id
                    and k.kind = 'dedupe' and k.key = i.dedupe_key and k.job_id = i.id))
    and not exists (select 1 from windlass_live w where w.id = i.id)
    and not exists (select 1 from windlass_later w where w.id = i.id)
    and not exists (select 1 from windlass_ended w where w.id = i.id);

insert into windlass_keys (tenant_id, kind, key, job_id, until)
select tenant_id, 'idempotency', idempotency_key, id, 9223372036854775807
from {input} i where idempotency_key is not null and refused is null
order by place
on conflict do nothing;

insert into windlass_keys as k (tenant_id, kind, key, job_id, until)
select tenant_id, 'dedupe', dedupe_key, id,
    {now} + cast(round(coalesce(dedupe_window, 0) * 1000000) as integer)
from {input} i
where dedupe_key is not null and refused is null
    and (idempotency_key is null
         or exists (select 1 from windlass_keys h where h.tenant_id = i.tenant_id
                    and h.kind = 'idempotency' and h.key = i.idempotency_key and h.job_id = i.id))
order by place
on conflict (tenant_id, kind, key) do update
    set job_id = excluded.job_id, open = 1, until = excluded.until
    where not k.open and k.until <= {now};

insert into windlass_deltas (at, tenant_id, queue, definition, pending, queued, enqueued)
select {now}, tenant_id, queue, definition,
    count(*) filter (where parents > 0 or held),
    count(*) filter (where parents = 0 and not held),
    count(*)
from {storable} r group by tenant_id, queue, definition;

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
    idempotency_key, on_parent_failure, {now} + cast(round(expires * 1000000) as integer),
    max_attempts, timeout_seconds,
    case when parents > 0 then parents - (select count(*) from {ended_parents}) else 0 end,
    held, parents > 0,
    case when {doomed} then 'canceled' end,
    case when {doomed} then 'a job it waited for did not complete' end,
    {now}, case when parents = 0 and not held then {now} end, {now}
from {storable} r where parents > 0 or held or due > {now};

insert into windlass_parents (child_id, parent_id, policy, settled)
select p.child_id, p.parent_id, k.on_parent_failure, exists (
    select 1 from windlass_ended e
    where e.id = p.parent_id and (e.state = 'completed' or k.on_parent_failure <> 'wait'))
from {parents} p join windlass_later k on k.id = p.child_id where k.unchecked
on conflict do nothing;

insert into windlass_live (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, max_attempts, timeout_seconds,
    created_at, queued_at, updated_at
)
select
    id, tenant_id, definition, queue, gate, 'queued', priority, due, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, {now} + cast(round(expires * 1000000) as integer),
    max_attempts, timeout_seconds, {now}, {now}, {now}
from {storable} r;

-- answer
select id, status,
    case when status = 'existing' then
        coalesce(
            (select k.job_id from windlass_keys k where k.tenant_id = s.tenant_id
                and k.kind = 'idempotency' and k.key = s.idempotency_key and k.job_id <> s.id),
            (select k.job_id from windlass_keys k where k.tenant_id = s.tenant_id
                and k.kind = 'dedupe' and k.key = s.dedupe_key and k.job_id <> s.id)
        ) end as existing_id
from (
    select i.id, i.tenant_id, i.idempotency_key, i.dedupe_key,
        case when exists (select 1 from windlass_live w where w.id = i.id)
                or exists (select 1 from windlass_later w where w.id = i.id)
                or exists (select 1 from windlass_ended w where w.id = i.id) then 'created'
            else coalesce(i.refused, 'existing') end as status
    from {input} i
) s
