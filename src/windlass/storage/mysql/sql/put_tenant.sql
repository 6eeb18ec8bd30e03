-- Makes a tenant, or changes one.
insert into windlass_tenants (id, name, state, weight, max_running, created_at, updated_at)
values (:id, :name, :state, :weight, :max_running, {now}, {now})
on duplicate key update name = values(name), state = values(state), weight = values(weight),
    max_running = values(max_running), updated_at = values(updated_at)
