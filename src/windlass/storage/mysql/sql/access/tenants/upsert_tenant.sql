-- Makes a tenant, or changes one.
insert into windlass_tenants (id, name, state, weight, max_running, max_open, timezone, created_at, updated_at)
values (:id, :name, :state, :weight, :max_running, :max_open, :timezone, {now}, {now})
on duplicate key update name = values(name), state = values(state), weight = values(weight),
    max_running = values(max_running), max_open = values(max_open), timezone = values(timezone),
    updated_at = values(updated_at)
