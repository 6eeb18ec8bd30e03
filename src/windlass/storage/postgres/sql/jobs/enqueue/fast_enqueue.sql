-- Stores jobs that are due, have no key and wait for no other: `enqueue` in fewer words.
with input as (
    select
        j.*,
        coalesce(j.own_gate, d.gate) as gate,
        case
            when (select 1 from windlass_later l where l.id = j.id) = 1
                or (select 1 from windlass_ended l where l.id = j.id) = 1 then 'created'
            when d.key is null then 'unknown_definition'
            when not d.enabled then 'disabled_definition'
            when t.id is null or t.state = 'deleted' then 'unknown_tenant'
            when t.state <> 'active' then 'suspended_tenant'
        end as answer
    from {jobs} j
    -- Each limit keeps the planner from reading the whole table.
    left
        join lateral (select * from windlass_definitions where key = j.definition limit 1) d on true
    left join lateral (select * from windlass_tenants where id = j.tenant_id limit 1) t on true
),
stored as (
    insert into windlass_live (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, on_parent_failure,
        max_attempts, timeout_seconds, created_at, queued_at, updated_at
    )
    select
        id, tenant_id, definition, queue, gate, 'queued', priority, {now}, payload, metadata,
        source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, on_parent_failure,
        max_attempts, timeout_seconds, {now}, {now}, {now}
    from input where answer is null
    on conflict (id) do nothing
    returning tenant_id, queue, definition
),
counted as (
    insert into windlass_deltas (at, tenant_id, queue, definition, queued, enqueued)
    select {now}, tenant_id, queue, definition, count(*), count(*)
    from stored group by tenant_id, queue, definition
)
-- What is not in the answer was created.
select id, answer as status, null as existing_id from input where answer <> 'created'
