-- Creates or changes a tenant.
insert into windlass_tenants (id, name, state, weight, max_running, max_open, timezone, created_at,
    updated_at)
values (:id, :name, :state, :weight, :max_running, :max_open, :timezone, {now}, {now})
{on_conflict id} name = {new name}, state = {new state},
    weight = {new weight}, max_running = {new max_running}, max_open = {new max_open},
    timezone = {new timezone}, updated_at = {now}
