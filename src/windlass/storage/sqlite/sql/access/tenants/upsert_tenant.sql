-- Makes a tenant, or changes one.
insert into windlass_tenants as t (id, name, state, weight, max_running, max_open, timezone, created_at, updated_at)
values (:id, :name, :state, :weight, :max_running, :max_open, :timezone, {now}, {now})
on conflict (id) do update set name = excluded.name, state = excluded.state,
    weight = excluded.weight, max_running = excluded.max_running, max_open = excluded.max_open,
    timezone = excluded.timezone, updated_at = {now}
