-- Stores definitions as they are given, new or changed. The lock on the registry is held.
insert into windlass_definitions (
    `key`, title, description, kind, queue, priority, max_attempts, backoff, timeout_seconds,
    isolation,
    max_concurrency, payload_schema, default_payload, tags, `system`, idempotent,
    requires_permission,
    dedupe, dedupe_window_seconds, on_duplicate, on_parent_failure, retention_days,
    log_retention_days,
    retention_count, code_hash, enabled, gate, handler, limit_key, max_per_key, rate_count,
    rate_seconds, key_rate_count, key_rate_seconds, runs_after, on_dead_letter, memory_limit_mb,
    version, metadata, runbook_url, origin, edited, code, missing_from_code, created_at, updated_at
)
select
    s.`key`, s.title, s.description, s.kind, s.queue, s.priority, s.max_attempts, s.backoff,
    s.timeout_seconds, s.isolation, s.max_concurrency, s.payload_schema, s.default_payload, s.tags,
    s.`system`, s.idempotent, s.requires_permission, s.dedupe, s.dedupe_window_seconds,
    s.on_duplicate,
    s.on_parent_failure, s.retention_days, s.log_retention_days, s.retention_count, s.code_hash,
    s.enabled, s.gate, s.handler, s.limit_key, s.max_per_key, s.rate_count, s.rate_seconds,
    s.key_rate_count, s.key_rate_seconds, s.runs_after, s.on_dead_letter, s.memory_limit_mb,
    s.version,
    s.metadata, s.runbook_url, s.origin, s.edited, s.code, s.missing_from_code, {now}, {now}
from {definitions} s order by s.`key`
on duplicate key update
    gated_at = if(windlass_definitions.gate = values(gate), windlass_definitions.gated_at,
        values(updated_at)),
    title = values(title), description = values(description), kind = values(kind),
    queue = values(queue), priority = values(priority), max_attempts = values(max_attempts),
    backoff = values(backoff), timeout_seconds = values(timeout_seconds),
    isolation = values(isolation),
    max_concurrency = values(max_concurrency), payload_schema = values(payload_schema),
    default_payload = values(default_payload), tags = values(tags), `system` = values(`system`),
    idempotent = values(idempotent), requires_permission = values(requires_permission),
    dedupe = values(dedupe), dedupe_window_seconds = values(dedupe_window_seconds),
    on_duplicate = values(on_duplicate), on_parent_failure = values(on_parent_failure),
    retention_days = values(retention_days), log_retention_days = values(log_retention_days),
    retention_count = values(retention_count), code_hash = values(code_hash),
    enabled = values(enabled),
    gate = values(gate), handler = values(handler), limit_key = values(limit_key),
    max_per_key = values(max_per_key), rate_count = values(rate_count),
    rate_seconds = values(rate_seconds), key_rate_count = values(key_rate_count),
    key_rate_seconds = values(key_rate_seconds), runs_after = values(runs_after),
    on_dead_letter = values(on_dead_letter), memory_limit_mb = values(memory_limit_mb),
    version = values(version), metadata = values(metadata),
    runbook_url = values(runbook_url), origin = values(origin),
    edited = values(edited), code = values(code), missing_from_code = values(missing_from_code),
    updated_at = values(updated_at)
