-- Creates a tenant, unless there is, or was, one with that id.
insert into windlass_tenants (id, name, state, weight, max_running, max_open, timezone, created_at,
    updated_at)
values (:id, :name, :state, :weight, :max_running, :max_open, :timezone, {now}, {now})
on conflict (id) do nothing
returning id
