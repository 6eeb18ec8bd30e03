-- Makes rows of the definitions in code, and lets rows follow changed code. Says which changed.
-- One at a time, since what is not there yet cannot be locked; so what is answered is what changes.
select id from windlass_tenants force index (primary) where id = 'system' for update;

-- answer
select s.`key`
from {definitions} s
left join windlass_definitions d on d.`key` = s.`key`
where d.`key` is null or d.code_hash <> s.code_hash
for update;

insert into windlass_definitions (
    `key`, title, description, kind, queue, priority, max_attempts, backoff, timeout_seconds, isolation,
    max_concurrency, payload_schema, default_payload, tags, `system`, idempotent, requires_permission,
    dedupe, dedupe_window_seconds, on_duplicate, on_parent_failure, retention_days,
    log_retention_days, retention_count, on_dead_letter, code_hash, gate, created_at, updated_at
)
select s.`key`, s.title, s.description, s.kind, s.queue, s.priority, s.max_attempts, s.backoff,
    s.timeout_seconds, s.isolation, s.max_concurrency, s.payload_schema, s.default_payload, s.tags,
    s.`system`, s.idempotent, s.requires_permission, s.dedupe, s.dedupe_window_seconds,
    s.on_duplicate, s.on_parent_failure, s.retention_days, s.log_retention_days,
    s.retention_count, s.on_dead_letter, s.code_hash, case when s.max_concurrency is null then '' else s.`key` end,
    {now}, {now}
from {definitions} s
left join windlass_definitions d on d.`key` = s.`key`
where d.`key` is null or d.code_hash <> s.code_hash
order by s.`key`
on duplicate key update
    title = values(title), description = values(description), kind = values(kind),
    queue = values(queue), priority = values(priority), max_attempts = values(max_attempts),
    backoff = values(backoff), timeout_seconds = values(timeout_seconds),
    isolation = values(isolation), max_concurrency = values(max_concurrency),
    payload_schema = values(payload_schema), default_payload = values(default_payload),
    tags = values(tags), `system` = values(`system`), idempotent = values(idempotent),
    requires_permission = values(requires_permission), dedupe = values(dedupe),
    dedupe_window_seconds = values(dedupe_window_seconds), on_duplicate = values(on_duplicate),
    on_parent_failure = values(on_parent_failure), retention_days = values(retention_days),
    log_retention_days = values(log_retention_days), retention_count = values(retention_count),
    on_dead_letter = values(on_dead_letter), code_hash = values(code_hash),
    gated_at = case when windlass_definitions.gate = case when values(max_concurrency) is null and windlass_definitions.enabled then ''
                else values(`key`) end then windlass_definitions.gated_at else values(updated_at) end,
    gate = case when values(max_concurrency) is null and windlass_definitions.enabled then ''
                else values(`key`) end,
    updated_at = values(updated_at)
