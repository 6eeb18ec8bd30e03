-- Begins a bulk operation; a maker who is gone is not named.
insert into windlass_operations (id, tenant_id, action, query, reason, total, actor, actor_kind,
    actor_name,
    created_by, undo_of, created_at, taken_until, changes)
values (:id, :tenant_id, :action, :query, :reason, :total, :actor, :actor_kind, :actor_name,
    (select id from windlass_users where id = {uuid :created_by} {share}), :undo_of, {now}, {now},
    :changes)
