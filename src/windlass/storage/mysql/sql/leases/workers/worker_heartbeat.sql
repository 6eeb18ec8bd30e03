-- Updates the worker's row, or creates it. Returns the operator's order and the installation's
-- epoch.
insert into windlass_workers (id, hostname, pid, version, queues, definitions, slots, slots_used,
    lease_seconds, metadata, memory_mb, code, doing, started_at, last_seen_at)
values (:id, :hostname, :pid, :version, :queues_served, :definitions_known,
    :slots, :slots_used, :lease_seconds, :metadata, :memory_mb, :code, :doing, {now}, {now})
on duplicate key update queues = values(queues), definitions = values(definitions),
    slots = values(slots), slots_used = values(slots_used), metadata = values(metadata),
    memory_mb = values(memory_mb), code = values(code), doing = values(doing),
    last_seen_at = values(last_seen_at);

select wanted, (select epoch from windlass_installation where id = 1) as epoch
from windlass_workers where id = :id
