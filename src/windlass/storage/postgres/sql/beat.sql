-- Keeps a worker's row: what it is and that it lives.
insert into windlass_workers as w (id, hostname, pid, version, queues, definitions, slots, slots_used,
    lease_seconds, metadata, started_at, last_seen_at)
values (:id, :hostname, :pid, :version, cast(:queues_served as json), cast(:definitions_known as json),
    :slots, :slots_used, :lease_seconds, cast(:metadata as json), {now}, {now})
on conflict (id) do update set queues = excluded.queues, definitions = excluded.definitions,
    slots = excluded.slots, slots_used = excluded.slots_used, metadata = excluded.metadata,
    last_seen_at = {now}
