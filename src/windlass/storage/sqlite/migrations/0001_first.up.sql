-- The schema. A job's row is in one of three tables of one shape, so that the table workers claim
-- from stays small: `live` (due or running), `later` (pending or due later), `ended` (completed,
-- canceled or dead-lettered). See docs/decisions/0002. Instants are microseconds since 1970, flags
-- 0 or 1, JSON is text; the texts that can be long stand last in a row, so that reading the others
-- does not walk over them.

create table windlass_tenants (
    id text not null primary key check (length(id) between 1 and 191),
    name text not null,
    state text not null default 'active' check (state in ('active', 'suspended', 'deleted')),
    weight integer not null default 1 check (weight between 1 and 1000),
    max_running integer check (max_running >= 0),
    created_at integer not null default (cast(strftime('%s', 'now') as integer) * 1000000),
    updated_at integer not null default (cast(strftime('%s', 'now') as integer) * 1000000),
    timezone text not null default 'UTC' check (length(timezone) <= 64),
    max_open integer check (max_open >= 0)
) strict;

insert into windlass_tenants (id, name) values ('default', 'Default'), ('system', 'System');

create table windlass_definitions (
    key text not null primary key check (length(key) between 1 and 191),
    enabled integer not null default 1,
    -- The gate of its jobs: empty for a definition without limits, the key for one that is limited
    -- or disabled. A claim takes no job whose gate differs; upkeep moves it to this gate.
    gate text not null default '',
    -- When the gate last changed: a transaction that began before may still store jobs with the
    -- old one.
    gated_at integer,
    title text not null,
    description text not null default '',
    kind text not null default 'code' check (kind in ('code', 'path', 'command', 'remote')),
    queue text not null default 'default',
    priority integer not null default 100,
    max_attempts integer not null default 3 check (max_attempts between 1 and 100),
    backoff text,
    timeout_seconds real,
    isolation text not null default 'thread' check (isolation in ('thread', 'process')),
    max_concurrency integer check (max_concurrency >= 1),
    payload_schema text not null default '{}',
    default_payload text not null default '{}',
    tags text not null default '[]',
    system integer not null default 0,
    idempotent integer not null default 0,
    requires_permission text,
    dedupe text,
    dedupe_window_seconds real,
    on_duplicate text not null default 'existing',
    on_parent_failure text not null default 'cancel' check (on_parent_failure in ('cancel', 'run', 'wait')),
    retention_days real,
    log_retention_days real,
    retention_count integer,
    code_hash text not null default '',
    created_at integer not null,
    updated_at integer not null,
    -- The handler: `module:name`, the dotted path to call, or the argv of a command.
    handler text not null default '',
    -- The payload field whose value is the limit key, and the limits for each key.
    limit_key text,
    max_per_key integer check (max_per_key >= 1),
    rate_count integer check (rate_count >= 1),
    rate_seconds real check (rate_seconds > 0),
    key_rate_count integer check (key_rate_count >= 1),
    key_rate_seconds real check (key_rate_seconds > 0),
    runs_after text not null default '[]',
    on_dead_letter text,
    memory_limit_mb integer check (memory_limit_mb >= 1),
    version integer not null default 1 check (version between 1 and 10000),
    metadata text not null default '{}',
    runbook_url text,
    origin text not null default 'code' check (origin in ('code', 'operator')),
    -- The fields of a definition declared in code that an operator changed, and the definition as
    -- in code.
    edited text not null default '[]',
    code text,
    missing_from_code integer not null default 0
) strict;

create table windlass_live (
    id text not null primary key,
    tenant_id text not null,
    definition text not null,
    queue text not null,
    gate text not null default '',
    state text not null check (state in ('queued', 'running')),
    priority integer not null,
    due_at integer not null,
    source text not null default 'manual' check (source in ('manual', 'event', 'schedule', 'system')),
    source_ref text,
    correlation_id text,
    created_by text,
    trigger_id text,
    trigger_due_at integer,
    dedupe_key text,
    idempotency_key text,
    on_parent_failure text not null default 'cancel',
    waits integer not null default 0,
    held integer not null default 0,
    unchecked integer not null default 0,
    expires_at integer,
    attempts integer not null default 0,
    max_attempts integer not null default 3 check (max_attempts between 1 and 100),
    worker_deaths integer not null default 0,
    lease_token integer not null default 0,
    lease_expires_at integer,
    worker_id text,
    timeout_seconds real,
    cancel_requested_at integer,
    cancel_requested_by text,
    cancel_to text,
    created_at integer not null,
    queued_at integer,
    started_at integer,
    last_started_at integer,
    finished_at integer,
    updated_at integer not null,
    progress real not null default 0,
    progress_note text,
    outcome text,
    last_error text,
    error_type text,
    reason text,
    log_sequence integer not null default 0,
    payload text not null,
    metadata text,
    result text,
    warnings text,
    error_trace text,
    fingerprint text,
    error_class text
) strict;

-- The claim's one index holds only what can be claimed, so running jobs never stand in its way.
create index windlass_live_line on windlass_live (queue, tenant_id, gate, priority, due_at, id)
    where state = 'queued';
create index windlass_live_lease on windlass_live (lease_expires_at) where state = 'running';
create index windlass_live_expires on windlass_live (expires_at) where expires_at is not null;
create index windlass_live_correlation on windlass_live (correlation_id, id) where correlation_id is not null;
create index windlass_live_creator on windlass_live (created_by, id) where created_by is not null;

create table windlass_later (
    id text not null primary key,
    tenant_id text not null,
    definition text not null,
    queue text not null,
    gate text not null default '',
    state text not null check (state in ('pending', 'queued')),
    priority integer not null,
    due_at integer not null,
    source text not null default 'manual' check (source in ('manual', 'event', 'schedule', 'system')),
    source_ref text,
    correlation_id text,
    created_by text,
    trigger_id text,
    trigger_due_at integer,
    dedupe_key text,
    idempotency_key text,
    on_parent_failure text not null default 'cancel',
    waits integer not null default 0,
    held integer not null default 0,
    unchecked integer not null default 0,
    expires_at integer,
    attempts integer not null default 0,
    max_attempts integer not null default 3 check (max_attempts between 1 and 100),
    worker_deaths integer not null default 0,
    lease_token integer not null default 0,
    lease_expires_at integer,
    worker_id text,
    timeout_seconds real,
    cancel_requested_at integer,
    cancel_requested_by text,
    cancel_to text,
    created_at integer not null,
    queued_at integer,
    started_at integer,
    last_started_at integer,
    finished_at integer,
    updated_at integer not null,
    progress real not null default 0,
    progress_note text,
    outcome text,
    last_error text,
    error_type text,
    reason text,
    log_sequence integer not null default 0,
    payload text not null,
    metadata text,
    result text,
    warnings text,
    error_trace text,
    fingerprint text,
    error_class text
) strict;

create index windlass_later_due on windlass_later (due_at) where state = 'queued';
create index windlass_later_unchecked on windlass_later (id) where unchecked = 1;
create index windlass_later_doomed on windlass_later (id) where cancel_to is not null;
create index windlass_later_expires on windlass_later (expires_at) where expires_at is not null;
create index windlass_later_tenant on windlass_later (tenant_id, id);
create index windlass_later_correlation on windlass_later (correlation_id, id) where correlation_id is not null;
create index windlass_later_creator on windlass_later (created_by, id) where created_by is not null;

create table windlass_ended (
    id text not null primary key,
    tenant_id text not null,
    definition text not null,
    queue text not null,
    gate text not null default '',
    state text not null check (state in ('completed', 'canceled', 'dead_letter')),
    priority integer not null,
    due_at integer not null,
    source text not null default 'manual' check (source in ('manual', 'event', 'schedule', 'system')),
    source_ref text,
    correlation_id text,
    created_by text,
    trigger_id text,
    trigger_due_at integer,
    dedupe_key text,
    idempotency_key text,
    on_parent_failure text not null default 'cancel',
    waits integer not null default 0,
    held integer not null default 0,
    unchecked integer not null default 0,
    expires_at integer,
    attempts integer not null default 0,
    max_attempts integer not null default 3 check (max_attempts between 1 and 100),
    worker_deaths integer not null default 0,
    lease_token integer not null default 0,
    lease_expires_at integer,
    worker_id text,
    timeout_seconds real,
    cancel_requested_at integer,
    cancel_requested_by text,
    cancel_to text,
    created_at integer not null,
    queued_at integer,
    started_at integer,
    last_started_at integer,
    finished_at integer,
    updated_at integer not null,
    progress real not null default 0,
    progress_note text,
    outcome text,
    last_error text,
    error_type text,
    reason text,
    log_sequence integer not null default 0,
    payload text not null,
    metadata text,
    result text,
    warnings text,
    error_trace text,
    fingerprint text,
    error_class text
) strict;

create index windlass_ended_tenant on windlass_ended (tenant_id, state, id);
create index windlass_ended_definition on windlass_ended (definition, state, id);
-- The few among the many: what operators look for in all tenants.
create index windlass_ended_dead on windlass_ended (id) where state = 'dead_letter';
create index windlass_ended_canceled on windlass_ended (id) where state = 'canceled';
create index windlass_ended_correlation on windlass_ended (correlation_id, id) where correlation_id is not null;
create index windlass_ended_creator on windlass_ended (created_by, state, id) where created_by is not null;

create view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;

-- Concurrency and rate limits, by name (`definition:…`, `tenant:…`, `queue:…`), and which running
-- jobs count under them: a row in holds exists exactly as long as its job's lease.
create table windlass_limits (
    name text not null primary key,
    max_running integer,
    max_per_key integer,
    rate_count integer,
    rate_seconds real,
    key_rate_count integer,
    key_rate_seconds real
) strict, without rowid;
create table windlass_holds (
    job_id text not null,
    name text not null,
    primary key (job_id, name)
) strict, without rowid;
create index windlass_holds_name on windlass_holds (name);

create table windlass_keys (
    tenant_id text not null,
    kind text not null check (kind in ('dedupe', 'idempotency')),
    key text not null,
    job_id text not null,
    open integer not null default 1,
    until integer not null,
    primary key (tenant_id, kind, key)
) strict, without rowid;
create index windlass_keys_job on windlass_keys (job_id);
create index windlass_keys_until on windlass_keys (until) where open = 0;

create table windlass_parents (
    child_id text not null,
    parent_id text not null,
    policy text not null check (policy in ('cancel', 'run', 'wait')),
    settled integer not null default 0,
    primary key (child_id, parent_id)
) strict, without rowid;
create index windlass_parents_parent on windlass_parents (parent_id);

-- All attempts of a job but the last, which is in the job's own row.
create table windlass_attempts (
    job_id text not null,
    number integer not null,
    worker_id text,
    started_at integer not null,
    finished_at integer not null,
    outcome text not null
        check (outcome in ('succeeded', 'failed', 'timed_out', 'canceled', 'lost', 'released')),
    error text,
    error_type text,
    error_trace text,
    pid integer,
    exit_code integer,
    stdout_tail text,
    stderr_tail text,
    error_class text,
    primary key (job_id, number)
) strict;

-- State changes made by people; those made by attempts follow from job and attempts.
create table windlass_transitions (
    id integer primary key,
    job_id text not null,
    at integer not null,
    from_state text not null,
    to_state text not null,
    actor text,
    message text
) strict;
create index windlass_transitions_job on windlass_transitions (job_id, at);

create table windlass_logs (
    -- By name, so that it stays what it is when the file is vacuumed: the words refer to it.
    number integer primary key,
    job_id text not null,
    sequence integer not null,
    attempt integer not null,
    tenant_id text not null,
    definition text not null,
    level text not null check (level in ('debug', 'info', 'warn', 'error')),
    message text not null,
    fields text,
    created_at integer not null,
    unique (job_id, sequence)
) strict;
create index windlass_logs_definition on windlass_logs (definition, created_at);
create index windlass_logs_created on windlass_logs (created_at);
create virtual table windlass_log_words using fts5 (
    message, content = 'windlass_logs', content_rowid = 'number',
    tokenize = 'unicode61 remove_diacritics 0'
);
create trigger windlass_logs_added after insert on windlass_logs begin
    insert into windlass_log_words (rowid, message) values (new.number, new.message); end;
create trigger windlass_logs_removed after delete on windlass_logs begin
    insert into windlass_log_words (windlass_log_words, rowid, message) values ('delete', old.number, old.message); end;

create table windlass_workers (
    id text not null primary key,
    hostname text not null,
    pid integer not null,
    version text not null,
    queues text not null,
    definitions text not null,
    slots integer not null,
    slots_used integer not null default 0,
    lease_seconds real not null,
    metadata text not null default '{}',
    started_at integer not null,
    last_seen_at integer not null,
    memory_mb integer,
    -- The version of the code it runs.
    code text,
    wanted text not null default 'run' check (wanted in ('run', 'drain', 'stop')),
    wanted_by text,
    wanted_at integer,
    doing text not null default 'run' check (doing in ('run', 'drain', 'stop'))
) strict;

-- Which code each worker ran; kept after the worker is gone, to say what a job failed with.
create table windlass_worker_codes (
    worker_id text not null primary key,
    code text not null,
    recorded_at integer not null
) strict, without rowid;
create index windlass_worker_codes_code on windlass_worker_codes (code);

-- Counts without a scan: each batch appends its changes here, upkeep adds them to the counts.
create table windlass_deltas (
    id integer primary key,
    at integer not null,
    tenant_id text not null,
    queue text not null,
    definition text not null,
    pending integer not null default 0,
    queued integer not null default 0,
    running integer not null default 0,
    completed integer not null default 0,
    canceled integer not null default 0,
    dead_letter integer not null default 0,
    enqueued integer not null default 0,
    succeeded integer not null default 0,
    failed integer not null default 0,
    run_ms integer not null default 0,
    wait_ms integer not null default 0,
    -- How many failed attempts were followed by another.
    retried integer not null default 0
) strict;

create table windlass_counts (
    tenant_id text not null,
    queue text not null,
    definition text not null,
    pending integer not null default 0,
    queued integer not null default 0,
    running integer not null default 0,
    completed integer not null default 0,
    canceled integer not null default 0,
    dead_letter integer not null default 0,
    primary key (tenant_id, queue, definition)
) strict;

create table windlass_minutes (
    minute integer not null,
    tenant_id text not null,
    queue text not null,
    definition text not null,
    enqueued integer not null default 0,
    started integer not null default 0,
    succeeded integer not null default 0,
    failed integer not null default 0,
    completed integer not null default 0,
    canceled integer not null default 0,
    dead_letter integer not null default 0,
    run_ms integer not null default 0,
    wait_ms integer not null default 0,
    -- By how many the jobs that wait (pending or queued) and those that run became more or fewer.
    waiting_change integer not null default 0,
    running_change integer not null default 0,
    primary key (minute, tenant_id, queue, definition)
) strict;

-- Counts of longer slots, made of the minutes when a slot has passed: `span` is their length in seconds.
-- Rows of the empty tenant are of all tenants together.
create table windlass_rollups (
    span integer not null,
    slot integer not null,
    tenant_id text not null,
    queue text not null,
    definition text not null,
    enqueued integer not null default 0,
    started integer not null default 0,
    succeeded integer not null default 0,
    failed integer not null default 0,
    completed integer not null default 0,
    canceled integer not null default 0,
    dead_letter integer not null default 0,
    run_ms integer not null default 0,
    wait_ms integer not null default 0,
    waiting_change integer not null default 0,
    running_change integer not null default 0,
    primary key (span, slot, tenant_id, queue, definition)
) strict, without rowid;

-- Until when the slots of each length are made.
create table windlass_rollup_marks (
    span integer not null primary key,
    until_at integer not null
) strict, without rowid;

-- Slots of the live workers, noted once a minute.
create table windlass_worker_minutes (
    minute integer not null primary key,
    workers integer not null,
    slots integer not null,
    slots_used integer not null
) strict, without rowid;

create table windlass_triggers (
    id text not null primary key,
    tenant_id text not null,
    name text not null check (length(name) between 1 and 191),
    type text not null check (type in ('cron', 'interval', 'once', 'init', 'event')),
    definition text not null references windlass_definitions (key),
    payload text not null default '{}',
    enabled integer not null default 1,
    cron text check (length(cron) <= 255),
    interval_seconds real check (interval_seconds > 0),
    at integer,
    timezone text not null default 'UTC' check (length(timezone) <= 64),
    misfire text not null default 'fire_once' check (misfire in ('fire_once', 'skip', 'all')),
    overlap text not null default 'allow' check (overlap in ('allow', 'skip', 'queue_one')),
    run_once integer not null default 0,
    event_name text check (length(event_name) between 1 and 191),
    condition text,
    delay_seconds real,
    dedupe_window_seconds real,
    max_attempts integer check (max_attempts between 1 and 100),
    origin text not null default 'operator' check (origin in ('code', 'operator')),
    -- The fields of a trigger declared in code that an operator changed, and the trigger as in
    -- code.
    edited text not null default '[]',
    code text,
    code_hash text not null default '',
    missing_from_code integer not null default 0,
    next_run_at integer,
    last_run_at integer,
    last_job_id text,
    last_error text,
    last_error_at integer,
    created_by text,
    created_at integer not null,
    updated_at integer not null,
    saved_by text,
    -- Template of the dedupe key of its jobs.
    dedupe_key text,
    -- A trigger has exactly the fields of its type.
    constraint windlass_triggers_fields check (
        (type = 'event') = (event_name is not null)
        and (type = 'cron') = (cron is not null)
        and (type = 'interval') = (interval_seconds is not null)
        and (type = 'once') = (at is not null)
    )
) strict;
create unique index windlass_triggers_name on windlass_triggers (tenant_id, name);
create index windlass_triggers_due on windlass_triggers (next_run_at) where enabled = 1 and next_run_at is not null;
create index windlass_triggers_event on windlass_triggers (tenant_id, event_name) where event_name is not null;
create index windlass_triggers_definition on windlass_triggers (definition);

-- The last firings of each trigger by time: what it made for which due time.
create table windlass_firings (
    trigger_id text not null,
    due_at integer not null,
    job_id text not null,
    primary key (trigger_id, due_at, job_id)
) strict, without rowid;
create trigger windlass_triggers_removed after delete on windlass_triggers begin
    delete from windlass_firings where trigger_id = old.id; end;

create table windlass_events (
    id text not null primary key,
    tenant_id text not null,
    name text not null check (length(name) between 1 and 191),
    correlation_id text,
    created_by text,
    -- Length of the chain of events before it, in which each led to a job whose handler emitted the
    -- next.
    depth integer not null default 0,
    created_at integer not null,
    -- When its triggers fired; null while the event waits for that.
    matched_at integer,
    jobs integer not null default 0,
    data text not null,
    -- The last trigger of the batch that was matched; null before the first batch and after the
    -- last.
    matched_trigger_id text,
    -- The result of each trigger, as JSON; null before the event was matched.
    matches text
) strict;
create index windlass_events_waiting on windlass_events (id) where matched_at is null;
create index windlass_events_tenant on windlass_events (tenant_id, id);

-- Queues that an operator paused or limited; others have no row.
create table windlass_queues (
    name text not null primary key check (length(name) between 1 and 191),
    paused_at integer,
    paused_by text,
    pause_reason text,
    max_concurrency integer check (max_concurrency >= 1),
    updated_at integer not null
) strict;

-- Rate limits: how many attempts started in each part of the window, and until when they count.
create table windlass_starts (
    name text not null,
    slot integer not null,
    started integer not null,
    until integer not null,
    primary key (name, slot)
) strict, without rowid;

create table windlass_users (
    id text not null primary key,
    name text not null check (length(name) between 1 and 191),
    password_hash text,
    superadmin integer not null default 0,
    disabled integer not null default 0,
    created_at integer not null,
    last_login_at integer
) strict;
create unique index windlass_users_name on windlass_users (name);

create table windlass_members (
    user_id text not null references windlass_users (id) on delete cascade,
    tenant_id text not null check (length(tenant_id) between 1 and 191),
    role text not null check (length(role) between 1 and 64),
    permissions text not null default '[]',
    created_at integer not null,
    primary key (user_id, tenant_id)
) strict;
create index windlass_members_tenant on windlass_members (tenant_id);

-- Secrets are stored as hashes only, here and below.
create table windlass_tokens (
    id text not null primary key,
    name text not null check (length(name) between 1 and 191),
    hash text not null check (length(hash) = 64),
    role text not null check (length(role) between 1 and 64),
    tenant_id text check (length(tenant_id) between 1 and 191),
    -- The rights the token is limited to; null means all rights of its role.
    rights text,
    permissions text not null default '[]',
    created_by text references windlass_users (id) on delete set null,
    created_at integer not null,
    expires_at integer,
    last_used_at integer,
    revoked_at integer
) strict;
create index windlass_tokens_tenant on windlass_tokens (tenant_id, id);
create index windlass_tokens_created_by on windlass_tokens (created_by) where created_by is not null;

create table windlass_sessions (
    id text not null primary key,
    hash text not null check (length(hash) = 64),
    user_id text not null references windlass_users (id) on delete cascade,
    created_at integer not null,
    -- Idle expiry, which each request moves on, and absolute expiry.
    expires_at integer not null,
    ends_at integer not null,
    last_seen_at integer not null,
    note text not null default ''
) strict;
create unique index windlass_sessions_hash on windlass_sessions (hash);
create index windlass_sessions_user on windlass_sessions (user_id);
create index windlass_sessions_expires on windlass_sessions (expires_at);

create table windlass_links (
    hash text not null primary key check (length(hash) = 64),
    purpose text not null check (purpose in ('login', 'password')),
    user_id text not null references windlass_users (id) on delete cascade,
    created_at integer not null,
    expires_at integer not null,
    used_at integer
) strict;
create index windlass_links_user on windlass_links (user_id);
create index windlass_links_expires on windlass_links (expires_at);

-- Login attempts per account or address in the current window: the login rate limit.
create table windlass_login_tries (
    key text not null primary key check (length(key) between 1 and 100),
    tries integer not null,
    until integer not null
) strict;
create index windlass_login_tries_until on windlass_login_tries (until);

-- Audit entries: one hash chain per tenant; the empty tenant is the installation. Append-only, so
-- the database role needs no more than `insert` and `select`.
create table windlass_audit (
    tenant_id text not null,
    sequence integer not null check (sequence >= 1),
    at integer not null,
    actor text not null,
    actor_kind text not null,
    actor_name text not null,
    action text not null,
    target_kind text not null,
    target_id text not null,
    outcome text not null check (outcome in ('allowed', 'refused')),
    -- The hash covers the exact text.
    value_before text,
    value_after text,
    request_id text,
    previous_hash text not null,
    hash text not null,
    primary key (tenant_id, sequence)
) strict;

-- The end of each audit chain. Locking its row puts concurrent entries in sequence.
create table windlass_audit_heads (
    tenant_id text not null primary key,
    sequence integer not null,
    hash text not null,
    signature text
) strict;

create table windlass_operations (
    id text not null primary key,
    tenant_id text check (length(tenant_id) between 1 and 191),
    action text not null check (action in ('cancel', 'retry', 'run_now', 'discard', 'update')),
    query text not null,
    reason text,
    state text not null default 'running' check (state in ('running', 'completed', 'stopped')),
    total integer not null check (total >= 0),
    done integer not null default 0,
    failed integer not null default 0,
    skipped integer not null default 0,
    actor text not null,
    actor_kind text not null,
    actor_name text not null,
    created_by text references windlass_users (id) on delete set null,
    undo_of text,
    created_at integer not null,
    stop_requested_at integer,
    finished_at integer,
    -- The lease of the process that works on it; each taking increments the token.
    token integer not null default 0,
    taken_until integer not null,
    -- For an update: the changes, as JSON.
    changes text
) strict;
create index windlass_operations_open on windlass_operations (taken_until) where state = 'running';
create index windlass_operations_tenant on windlass_operations (tenant_id, id);
create index windlass_operations_finished on windlass_operations (finished_at) where finished_at is not null;
create index windlass_operations_created_by on windlass_operations (created_by) where created_by is not null;

create table windlass_operation_items (
    operation_id text not null references windlass_operations (id) on delete cascade,
    place integer not null,
    job_id text not null,
    state text not null default 'waiting' check (state in ('waiting', 'done', 'failed', 'skipped')),
    -- The result for this job, or why it was skipped.
    note text,
    primary key (operation_id, place)
) strict;
create index windlass_operation_items_waiting on windlass_operation_items (operation_id, place) where state = 'waiting';

-- Lifetime totals for the metrics. Unlike counts and minutes they never fall, as a Prometheus
-- counter requires.
create table windlass_totals (
    queue text not null,
    definition text not null,
    enqueued integer not null default 0,
    started integer not null default 0,
    succeeded integer not null default 0,
    failed integer not null default 0,
    retried integer not null default 0,
    canceled integer not null default 0,
    dead_letter integer not null default 0,
    primary key (queue, definition)
) strict;

-- Latency histograms: waits and runs by upper bound (2147483647 is infinity), by slots of `span` seconds.
-- Rows of the empty tenant are of all tenants together; those with span 0 hold the lifetime totals.
create table windlass_histograms (
    span integer not null,
    slot integer not null,
    tenant_id text not null,
    kind text not null check (kind in ('wait', 'run')),
    queue text not null,
    definition text not null,
    upto_ms integer not null,
    observed integer not null default 0,
    seconds real not null default 0,
    primary key (span, slot, tenant_id, kind, queue, definition, upto_ms)
) strict, without rowid;

-- Stored responses of requests with an Idempotency-Key: a repeated request gets the same response.
create table windlass_answers (
    -- Hash of caller, method, path and key, so that no caller reads another's response.
    key_hash text not null primary key check (length(key_hash) = 64),
    -- Empty for the installation.
    tenant_id text not null check (length(tenant_id) <= 191),
    request_hash text not null check (length(request_hash) = 64),
    -- The request that holds the key, and until when; then how long the response is kept.
    holder text not null,
    status integer,
    body text,
    until integer not null
) strict;
create index windlass_answers_until on windlass_answers (until);

-- Muted causes: their dead-lettered jobs are hidden and send no alerts until `muted_until`.
create table windlass_mutes (
    definition text not null check (length(definition) between 1 and 191),
    -- Empty for jobs whose cause is unknown.
    fingerprint text not null check (length(fingerprint) <= 64),
    -- Empty for all tenants.
    tenant_id text not null check (length(tenant_id) <= 191),
    muted_at integer not null,
    muted_by text,
    muted_until integer,
    reason text,
    primary key (definition, fingerprint, tenant_id)
) strict, without rowid;

-- The signed audit chains, numbered in the order in which they began.
create table windlass_audit_chains (
    tenant_id text not null primary key,
    number integer not null,
    signature text not null
) strict;

-- One row: the number of signed audit chains.
create table windlass_audit_registry (
    id integer not null primary key check (id = 1),
    chains integer not null,
    signature text
) strict;

-- Roles offered and not accepted yet. An invitation is for a name, whether or not it has an
-- account.
create table windlass_invitations (
    -- Empty for the installation: the role there is superadmin.
    tenant_id text not null check (length(tenant_id) <= 191),
    name text not null check (length(name) between 1 and 191),
    role text not null check (length(role) between 1 and 64),
    permissions text not null default '[]',
    -- Hash of the secret in the link.
    hash text not null check (length(hash) = 64),
    created_at integer not null,
    expires_at integer not null,
    primary key (tenant_id, name)
) strict;
create unique index windlass_invitations_hash on windlass_invitations (hash);
create index windlass_invitations_name on windlass_invitations (name);
create index windlass_invitations_expires on windlass_invitations (expires_at);

-- One row: the installation's epoch.
create table windlass_installation (
    id integer primary key check (id = 1),
    -- Changes when the database was restored, or promoted without its last transactions.
    epoch text not null,
    -- The server of this epoch, where the database has an identity for it.
    server text,
    -- All lease tokens of this epoch are greater, so that no token is issued twice.
    token_floor integer not null default 0,
    begun_at integer not null
);

insert into windlass_installation (id, epoch, begun_at)
values (1, lower(hex(randomblob(16))), cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000);

-- Triggers declared in code that an operator deleted: a sync does not create them again.
create table windlass_deleted_triggers (
    tenant_id text not null,
    -- The trigger's name in code.
    name text not null check (length(name) between 1 and 191),
    definition text not null,
    deleted_at integer not null,
    primary key (tenant_id, name)
) strict;

-- Alerts about causes of dead letters: the last attempt to send one to each receiver.
create table windlass_alerts (
    receiver text not null check (length(receiver) between 1 and 64),
    definition text not null check (length(definition) <= 191),
    fingerprint text not null check (length(fingerprint) <= 64),
    tried_at integer not null,
    -- When the newest job of an alert that was sent was dead-lettered; null before the first.
    told_until integer,
    primary key (receiver, definition, fingerprint)
) strict, without rowid;
create index windlass_alerts_tried on windlass_alerts (tried_at);

create table windlass_done (
    tenant_id text not null,
    key text not null,
    -- The key is done as long as this job is kept.
    job_id text not null,
    at integer not null,
    primary key (tenant_id, key)
) strict, without rowid;
create index windlass_done_job on windlass_done (job_id);
