-- Changes a trigger, unless its tenant has another one of that name.
update windlass_triggers as w
set
    name = t.name, definition = t.definition, payload = t.payload, enabled = t.enabled,
    cron = t.cron,
    interval_seconds = t.interval_seconds, at = t.at, timezone = t.timezone, misfire = t.misfire,
    overlap = t.overlap, run_once = t.run_once, event_name = t.event_name, condition = t.condition,
    delay_seconds = t.delay_seconds, dedupe_window_seconds = t.dedupe_window_seconds,
    max_attempts = t.max_attempts, edited = t.edited, code = t.code, code_hash = t.code_hash,
    missing_from_code = t.missing_from_code, next_run_at = t.next_run_at, last_error = null,
    type = t.type, saved_by = t.saved_by, dedupe_key = t.dedupe_key, updated_at = {now}
from {triggers} t
where w.id = t.id
    and not exists (select 1 from windlass_triggers o
    where o.tenant_id = t.tenant_id and o.name = t.name and o.id <> t.id)
returning w.id
