-- Updates the worker's row, or creates it. Returns the operator's order and the installation's
-- epoch.
insert into windlass_workers as w (id, hostname, pid, version, queues, definitions, slots,
    slots_used, lease_seconds, metadata, memory_mb, code, doing, started_at, last_seen_at)
values (:id, :hostname, :pid, :version, {json :queues_served}, {json :definitions_known},
    :slots, :slots_used, :lease_seconds, {json :metadata}, :memory_mb, :code, :doing, {now}, {now})
on conflict (id) do update set queues = excluded.queues, definitions = excluded.definitions,
    slots = excluded.slots, slots_used = excluded.slots_used, metadata = excluded.metadata,
    memory_mb = excluded.memory_mb, code = excluded.code, doing = excluded.doing,
    last_seen_at = {now}
returning wanted, (select epoch from windlass_installation where id = 1) as epoch
