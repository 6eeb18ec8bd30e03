-- Creates a trigger, unless its tenant has one of that name.
insert into windlass_triggers (
    id, tenant_id, name, type, definition, payload, enabled, cron, interval_seconds, at, timezone,
    misfire, overlap, run_once, event_name, {name condition}, delay_seconds, dedupe_window_seconds,
    max_attempts, origin, edited, code, code_hash, missing_from_code, next_run_at, created_by,
    saved_by, dedupe_key, created_at, updated_at
)
select
    t.id, t.tenant_id, t.name, t.type, t.definition, t.payload, t.enabled, t.cron,
    t.interval_seconds,
    t.at, t.timezone, t.misfire, t.overlap, t.run_once, t.event_name, t.{name condition},
    t.delay_seconds,
    t.dedupe_window_seconds, t.max_attempts, t.origin, t.edited, t.code, t.code_hash,
    t.missing_from_code, t.next_run_at, t.created_by, t.saved_by, t.dedupe_key,
    {now}, {now}
from {triggers} t where true
{or_ignore windlass_triggers.id};

select w.id
from {triggers} t {join} windlass_triggers w {index primary} on w.id = t.id
