-- Begins a bulk operation; a maker who is gone is not named.
with maker as (select id from windlass_users where id = cast(:created_by as uuid) for key share)
insert into windlass_operations (id, tenant_id, action, query, reason, total, actor, actor_kind, actor_name,
    created_by, undo_of, created_at, taken_until, changes)
values (:id, :tenant_id, :action, :query, :reason, :total, :actor, :actor_kind, :actor_name,
    (select id from maker), :undo_of, {now}, {now}, :changes)
