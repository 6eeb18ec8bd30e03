-- Stores jobs that have no key and wait for no other: `enqueue` in fewer words and steps.
-- `enqueue.py` runs these statements; where they find anything unusual, `enqueue` itself.

-- Ids are made in rising order, so that a look between the first and the last tells of most batches
-- that none of their jobs is stored already.
select {now} as now_at,
    exists (select 1 from windlass_live force index (primary) where id between :first and :last)
    or exists (select 1 from windlass_later force index (primary) where id between :first and :last)
    or exists (select 1 from windlass_ended force index (primary) where id between :first and :last)
    as perhaps_stored,
    (select json_arrayagg(json_array(`key`, enabled, gate))
        from windlass_definitions force index (primary)
     where `key` in :definitions) as definitions,
    (select json_arrayagg(json_array(id, state)) from windlass_tenants force index (primary)
     where id in :tenants) as tenants;

select id from windlass_live force index (primary) where id in :ids union all
select id from windlass_later force index (primary) where id in :ids union all
select id from windlass_ended force index (primary) where id in :ids;

insert into windlass_live (
    id, payload, room, tenant_id, definition, queue, gate, state, priority, due_at, metadata,
    source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, on_parent_failure,
    expires_at,
    max_attempts, timeout_seconds, created_at, queued_at, updated_at
) values :rows;

insert into windlass_later (
    id, payload, room, tenant_id, definition, queue, gate, state, priority, due_at, metadata,
    source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, on_parent_failure,
    expires_at,
    max_attempts, timeout_seconds, created_at, queued_at, updated_at
) values :rows;

insert into windlass_deltas (at, tenant_id, queue, definition, queued, enqueued) values :counted
