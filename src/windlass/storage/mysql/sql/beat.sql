-- Keeps a worker's row: what it is and that it lives.
insert into windlass_workers (id, hostname, pid, version, queues, definitions, slots, slots_used,
    lease_seconds, metadata, started_at, last_seen_at)
values (:id, :hostname, :pid, :version, :queues_served, :definitions_known,
    :slots, :slots_used, :lease_seconds, :metadata, {now}, {now})
on duplicate key update queues = values(queues), definitions = values(definitions),
    slots = values(slots), slots_used = values(slots_used), metadata = values(metadata),
    last_seen_at = values(last_seen_at)
