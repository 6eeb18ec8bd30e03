-- Changes a trigger, unless its tenant has another one of that name.
update windlass_triggers w straight_join {triggers} t on t.id = w.id
left join windlass_triggers o on o.tenant_id = t.tenant_id and o.name = t.name and o.id <> t.id
set
    w.name = t.name, w.definition = t.definition, w.payload = t.payload, w.enabled = t.enabled,
    w.cron = t.cron, w.interval_seconds = t.interval_seconds, w.at = t.at, w.timezone = t.timezone,
    w.misfire = t.misfire, w.overlap = t.overlap, w.run_once = t.run_once,
    w.event_name = t.event_name,
    w.`condition` = t.`condition`, w.delay_seconds = t.delay_seconds,
    w.dedupe_window_seconds = t.dedupe_window_seconds, w.max_attempts = t.max_attempts,
    w.edited = t.edited, w.code = t.code, w.code_hash = t.code_hash,
    w.missing_from_code = t.missing_from_code, w.next_run_at = t.next_run_at, w.last_error = null,
    w.type = t.type, w.saved_by = t.saved_by, w.dedupe_key = t.dedupe_key, w.updated_at = {now}
where o.id is null;

select w.id from {triggers} t
straight_join windlass_triggers w force index (primary) on w.id = t.id and w.name = t.name
