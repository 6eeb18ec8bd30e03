-- Stores an event; it waits to be matched.
insert into windlass_events (id, tenant_id, name, data, correlation_id, created_by, depth,
    created_at)
values (:id, :tenant_id, :name, {json :data}, :correlation_id, :created_by, :depth, {now})
