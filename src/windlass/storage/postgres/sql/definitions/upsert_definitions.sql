-- Stores definitions as they are given, new or changed. The lock on the registry is held.
insert into windlass_definitions as d (
    key, title, description, kind, queue, priority, max_attempts, backoff, timeout_seconds,
    isolation,
    max_concurrency, payload_schema, default_payload, tags, system, idempotent, requires_permission,
    dedupe, dedupe_window_seconds, on_duplicate, on_parent_failure, retention_days,
    log_retention_days,
    retention_count, code_hash, enabled, gate, handler, limit_key, max_per_key, rate_count,
    rate_seconds, key_rate_count, key_rate_seconds, runs_after, on_dead_letter, memory_limit_mb,
    version, metadata, runbook_url, origin, edited, code, missing_from_code, created_at, updated_at
)
select
    key, title, description, kind, queue, priority, max_attempts, backoff, timeout_seconds,
    isolation,
    max_concurrency, payload_schema, default_payload, tags, system, idempotent, requires_permission,
    dedupe, dedupe_window_seconds, on_duplicate, on_parent_failure, retention_days,
    log_retention_days,
    retention_count, code_hash, enabled, gate, handler, limit_key, max_per_key, rate_count,
    rate_seconds, key_rate_count, key_rate_seconds, runs_after, on_dead_letter, memory_limit_mb,
    version, metadata, runbook_url, origin, edited, code, missing_from_code, {now}, {now}
from {definitions} s order by s.key
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
    code_hash = excluded.code_hash, enabled = excluded.enabled, gate = excluded.gate,
    handler = excluded.handler, limit_key = excluded.limit_key, max_per_key = excluded.max_per_key,
    rate_count = excluded.rate_count, rate_seconds = excluded.rate_seconds,
    key_rate_count = excluded.key_rate_count, key_rate_seconds = excluded.key_rate_seconds,
    runs_after = excluded.runs_after, on_dead_letter = excluded.on_dead_letter,
    memory_limit_mb = excluded.memory_limit_mb, version = excluded.version,
    metadata = excluded.metadata, runbook_url = excluded.runbook_url,
    origin = excluded.origin, edited = excluded.edited,
    code = excluded.code, missing_from_code = excluded.missing_from_code,
    gated_at = case when d.gate = excluded.gate then d.gated_at else {now} end, updated_at = {now}
