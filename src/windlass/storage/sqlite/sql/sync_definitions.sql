-- Makes rows of the definitions in code, and lets rows follow changed code. Says which changed.
insert into windlass_definitions as d (
    key, title, description, kind, queue, priority, max_attempts, backoff, timeout_seconds, isolation,
    max_concurrency, payload_schema, default_payload, tags, system, idempotent, requires_permission,
    dedupe, dedupe_window_seconds, on_duplicate, on_parent_failure, retention_days,
    log_retention_days, retention_count, on_dead_letter, code_hash, gate, created_at, updated_at
)
select key, title, description, kind, queue, priority, max_attempts, backoff, timeout_seconds, isolation,
    max_concurrency, payload_schema, default_payload, tags, system, idempotent, requires_permission,
    dedupe, dedupe_window_seconds, on_duplicate, on_parent_failure, retention_days,
    log_retention_days, retention_count, on_dead_letter, code_hash,
    case when max_concurrency is null then '' else key end, {now}, {now}
from {definitions} s where true order by s.key
on conflict (key) do update set
    title = excluded.title, description = excluded.description, kind = excluded.kind,
    queue = excluded.queue, priority = excluded.priority, max_attempts = excluded.max_attempts,
    backoff = excluded.backoff, timeout_seconds = excluded.timeout_seconds,
    isolation = excluded.isolation, max_concurrency = excluded.max_concurrency,
    payload_schema = excluded.payload_schema, default_payload = excluded.default_payload,
    tags = excluded.tags, system = excluded.system, idempotent = excluded.idempotent,
    requires_permission = excluded.requires_permission, dedupe = excluded.dedupe,
    dedupe_window_seconds = excluded.dedupe_window_seconds, on_duplicate = excluded.on_duplicate,
    on_parent_failure = excluded.on_parent_failure, retention_days = excluded.retention_days,
    log_retention_days = excluded.log_retention_days, retention_count = excluded.retention_count,
    on_dead_letter = excluded.on_dead_letter, code_hash = excluded.code_hash,
    gate = case when excluded.max_concurrency is null and d.enabled then '' else excluded.key end,
    gated_at = case when d.gate = case when excluded.max_concurrency is null and d.enabled then '' else excluded.key end
        then d.gated_at else {now} end,
    updated_at = {now}
where d.code_hash <> excluded.code_hash
returning key
