-- Stores one job that is due, has no key and waits for no other: `enqueue` in the fewest words.
with who as (
    select coalesce(cast(:own_gate as text), d.gate) as gate,
        case
            when exists (select from windlass_later where id = cast(:id as uuid))
                or exists (select from windlass_ended where id = cast(:id as uuid)) then 'created'
            when d.key is null then 'unknown_definition'
            when not d.enabled then 'disabled_definition'
            when t.id is null or t.state = 'deleted' then 'unknown_tenant'
            when t.state <> 'active' then 'suspended_tenant'
        end as answer
    from (select 1) one
    left join windlass_definitions d on d.key = cast(:definition as text)
    left join windlass_tenants t on t.id = cast(:tenant_id as text)
),
stored as (
    insert into windlass_live (
        id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
        source_ref, correlation_id, created_by, trigger_id, trigger_due_at, on_parent_failure,
        max_attempts, timeout_seconds, created_at, queued_at, updated_at
    )
    select
        cast(:id as uuid), cast(:tenant_id as text), cast(:definition as text),
        cast(:queue as text), gate,
        'queued', cast(:priority as integer), {now}, cast(:payload as json),
        cast(:metadata as json),
        cast(:source as text), cast(:source_ref as text), cast(:correlation_id as text),
        cast(:created_by as text), cast(:trigger_id as uuid), cast(:trigger_due_at as timestamptz),
        cast(:on_parent_failure as text),
        cast(:max_attempts as integer), cast(:timeout_seconds as double precision), {now}, {now},
        {now}
    from who where answer is null
    on conflict (id) do nothing
    returning 1
),
counted as (
    insert into windlass_deltas (at, tenant_id, queue, definition, queued, enqueued)
    select {now}, cast(:tenant_id as text), cast(:queue as text), cast(:definition as text), 1, 1
        from stored
)
-- What is not in the answer was created.
select cast(:id as uuid) as id, answer as status, null as existing_id from who
where answer <> 'created'
