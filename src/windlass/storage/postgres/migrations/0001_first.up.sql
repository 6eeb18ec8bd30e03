-- The schema. A job's row is in one of three tables of one shape, so that the table workers claim
-- from stays small: `live` (due or running), `later` (pending or due later), `ended` (completed,
-- canceled or dead-lettered). See docs/decisions/0002.

create table windlass_tenants (
    id text primary key check (length(id) between 1 and 191),
    name text not null,
    state text not null default 'active' check (state in ('active', 'suspended', 'deleted')),
    weight integer not null default 1 check (weight between 1 and 1000),
    max_running integer check (max_running >= 0),
    created_at timestamptz not null default statement_timestamp(),
    updated_at timestamptz not null default statement_timestamp(),
    timezone text not null default 'UTC' check (length(timezone) <= 64),
    max_open integer check (max_open >= 0)
);

insert into windlass_tenants (id, name) values ('default', 'Default'), ('system', 'System');

create table windlass_definitions (
    key text primary key check (length(key) between 1 and 191),
    title text not null,
    description text not null default '',
    kind text not null default 'code' check (kind in ('code', 'path', 'command', 'remote')),
    queue text not null default 'default',
    priority integer not null default 100,
    max_attempts integer not null default 3 check (max_attempts between 1 and 100),
    backoff json,
    timeout_seconds double precision,
    isolation text not null default 'thread' check (isolation in ('thread', 'process')),
    max_concurrency integer check (max_concurrency >= 1),
    payload_schema json not null default '{}',
    default_payload json not null default '{}',
    tags json not null default '[]',
    enabled boolean not null default true,
    system boolean not null default false,
    idempotent boolean not null default false,
    requires_permission text,
    dedupe text,
    dedupe_window_seconds double precision,
    on_duplicate text not null default 'existing',
    on_parent_failure text not null default 'cancel' check (on_parent_failure in ('cancel', 'run', 'wait')),
    retention_days double precision,
    log_retention_days double precision,
    retention_count integer,
    code_hash text not null default '',
    -- The gate of its jobs: empty for a definition without limits, the key for one that is limited
    -- or disabled. A claim takes no job whose gate differs; upkeep moves it to this gate.
    gate text not null default '',
    -- When the gate last changed: a transaction that began before may still store jobs with the
    -- old one.
    gated_at timestamptz,
    created_at timestamptz not null default statement_timestamp(),
    updated_at timestamptz not null default statement_timestamp(),
    -- The handler: `module:name`, the dotted path to call, or the argv of a command.
    handler text not null default '',
    -- The payload field whose value is the limit key, and the limits for each key.
    limit_key text,
    max_per_key integer check (max_per_key >= 1),
    rate_count integer check (rate_count >= 1),
    rate_seconds double precision check (rate_seconds > 0),
    key_rate_count integer check (key_rate_count >= 1),
    key_rate_seconds double precision check (key_rate_seconds > 0),
    runs_after json not null default '[]',
    on_dead_letter text,
    memory_limit_mb integer check (memory_limit_mb >= 1),
    version integer not null default 1 check (version between 1 and 10000),
    metadata json not null default '{}',
    runbook_url text,
    origin text not null default 'code' check (origin in ('code', 'operator')),
    -- The fields of a definition declared in code that an operator changed, and the definition as
    -- in code.
    edited json not null default '[]',
    code json,
    missing_from_code boolean not null default false
);

create table windlass_live (
    id uuid not null,
    tenant_id text not null,
    definition text not null,
    queue text not null,
    gate text not null default '',
    state text not null,
    priority integer not null,
    due_at timestamptz not null,
    payload json not null,
    metadata json,
    source text not null default 'manual',
    source_ref text,
    correlation_id text,
    created_by text,
    trigger_id uuid,
    trigger_due_at timestamptz,
    dedupe_key text,
    idempotency_key text,
    on_parent_failure text not null default 'cancel',
    waits integer not null default 0,
    held boolean not null default false,
    unchecked boolean not null default false,
    expires_at timestamptz,
    attempts integer not null default 0,
    max_attempts integer not null default 3,
    worker_deaths integer not null default 0,
    lease_token bigint not null default 0,
    lease_expires_at timestamptz,
    worker_id text,
    timeout_seconds double precision,
    cancel_requested_at timestamptz,
    cancel_requested_by text,
    cancel_to text,
    created_at timestamptz not null,
    queued_at timestamptz,
    started_at timestamptz,
    last_started_at timestamptz,
    finished_at timestamptz,
    updated_at timestamptz not null,
    progress double precision not null default 0,
    progress_note text,
    outcome text,
    result json,
    warnings json,
    last_error text,
    error_type text,
    error_trace text,
    reason text,
    log_sequence integer not null default 0,
    -- Groups dead-lettered jobs with the same cause of failure.
    fingerprint text,
    error_class text,
    constraint windlass_live_source check (source in ('manual', 'event', 'schedule', 'system')),
    constraint windlass_live_attempts check (max_attempts between 1 and 100)
) with (
    -- Room on each page for the new version a claim writes, so that a claim touches no index.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);

create table windlass_later (like windlass_live including defaults including constraints);
create table windlass_ended (like windlass_live including defaults including constraints);

-- So that jobs can be copied in.
alter table windlass_live
    alter state set default 'queued',
    alter due_at set default statement_timestamp(),
    alter created_at set default statement_timestamp(),
    alter queued_at set default statement_timestamp(),
    alter updated_at set default statement_timestamp();

alter table windlass_live add constraint windlass_live_pkey primary key (id);
alter table windlass_live add constraint windlass_live_state check (state in ('queued', 'running'));
-- The claim's one index: no column in it changes between enqueue and finish.
-- The id stands in it as bytes, which sort alike: else, on a table that was empty when it was last
-- vacuumed, the planner takes this whole index for as good a way to some ids as the primary key.
create index windlass_live_line on windlass_live (queue, tenant_id, gate, priority, due_at, uuid_send(id));
create index windlass_live_expires on windlass_live (expires_at) where expires_at is not null;
create index windlass_live_correlation on windlass_live (correlation_id, id) where correlation_id is not null;
create index windlass_live_creator on windlass_live (created_by, id) where created_by is not null;

alter table windlass_later add constraint windlass_later_pkey primary key (id);
alter table windlass_later add constraint windlass_later_state check (state in ('pending', 'queued'));
create index windlass_later_due on windlass_later (due_at) where state = 'queued';
create index windlass_later_unchecked on windlass_later (id) where unchecked;
create index windlass_later_doomed on windlass_later (id) where cancel_to is not null;
create index windlass_later_expires on windlass_later (expires_at) where expires_at is not null;
create index windlass_later_tenant on windlass_later (tenant_id, id);
create index windlass_later_correlation on windlass_later (correlation_id, id) where correlation_id is not null;
create index windlass_later_creator on windlass_later (created_by, id) where created_by is not null;

alter table windlass_ended add constraint windlass_ended_pkey primary key (id);
alter table windlass_ended add constraint windlass_ended_state
    check (state in ('completed', 'canceled', 'dead_letter'));
create index windlass_ended_tenant on windlass_ended (tenant_id, state, id);
-- Ended while a child was being stored: the child has to look.
create index windlass_ended_unchecked on windlass_ended (id) where unchecked;
create index windlass_ended_definition on windlass_ended (definition, state, id);
create index windlass_ended_correlation on windlass_ended (correlation_id, id) where correlation_id is not null;
create index windlass_ended_creator on windlass_ended (created_by, state, id) where created_by is not null;

create view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;

-- One row for each claim: the reaper finds expired leases here, so that no index on the jobs
-- changes.
create table windlass_claims (
    id bigint generated always as identity primary key,
    worker_id text not null,
    job_ids uuid[] not null,
    look_at timestamptz not null
);
create index windlass_claims_look on windlass_claims (look_at);

-- Concurrency and rate limits, by name (`definition:…`, `tenant:…`, `queue:…`), and which running
-- jobs count under them: a row in holds exists exactly as long as its job's lease.
create table windlass_limits (
    name text primary key,
    max_running integer,
    -- For each limit key of the definition.
    max_per_key integer,
    rate_count integer,
    rate_seconds double precision,
    key_rate_count integer,
    key_rate_seconds double precision
);
create table windlass_holds (
    job_id uuid not null,
    name text not null,
    primary key (job_id, name)
);
create index windlass_holds_name on windlass_holds (name);

create table windlass_keys (
    tenant_id text not null,
    kind text not null check (kind in ('dedupe', 'idempotency')),
    key text not null,
    job_id uuid not null,
    open boolean not null default true,
    until timestamptz not null,
    primary key (tenant_id, kind, key)
);
create index windlass_keys_job on windlass_keys (job_id);
create index windlass_keys_until on windlass_keys (until) where not open;

create table windlass_parents (
    child_id uuid not null,
    parent_id uuid not null,
    policy text not null check (policy in ('cancel', 'run', 'wait')),
    settled boolean not null default false,
    primary key (child_id, parent_id)
);
create index windlass_parents_parent on windlass_parents (parent_id);

-- All attempts of a job but the last, which is in the job's own row.
create table windlass_attempts (
    job_id uuid not null,
    number bigint not null,
    worker_id text,
    started_at timestamptz not null,
    finished_at timestamptz not null,
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
);

-- State changes made by people; those made by attempts follow from job and attempts.
create table windlass_transitions (
    id bigint generated always as identity primary key,
    job_id uuid not null,
    at timestamptz not null,
    from_state text not null,
    to_state text not null,
    actor text,
    message text
);
create index windlass_transitions_job on windlass_transitions (job_id, at);

create table windlass_logs (
    job_id uuid not null,
    sequence integer not null,
    attempt bigint not null,
    tenant_id text not null,
    definition text not null,
    level text not null check (level in ('debug', 'info', 'warn', 'error')),
    message text not null,
    fields json,
    created_at timestamptz not null,
    primary key (job_id, sequence)
);
create index windlass_logs_definition on windlass_logs (definition, created_at);
create index windlass_logs_created on windlass_logs (created_at);
create index windlass_logs_words on windlass_logs using gin (to_tsvector('simple', message));

create table windlass_workers (
    id text primary key,
    hostname text not null,
    pid integer not null,
    version text not null,
    queues json not null,
    definitions json not null,
    slots integer not null,
    slots_used integer not null default 0,
    lease_seconds double precision not null,
    metadata json not null default '{}',
    started_at timestamptz not null,
    last_seen_at timestamptz not null,
    memory_mb integer,
    -- The version of the code it runs.
    code text,
    wanted text not null default 'run' check (wanted in ('run', 'drain', 'stop')),
    wanted_by text,
    wanted_at timestamptz,
    doing text not null default 'run' check (doing in ('run', 'drain', 'stop'))
);

-- Which code each worker ran; kept after the worker is gone, to say what a job failed with.
create table windlass_worker_codes (
    worker_id text primary key,
    code text not null,
    recorded_at timestamptz not null
);
create index windlass_worker_codes_code on windlass_worker_codes (code);

-- Counts without a scan: each batch appends its changes here, upkeep adds them to the counts.
create table windlass_deltas (
    id bigint generated always as identity primary key,
    at timestamptz not null,
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
    run_ms bigint not null default 0,
    wait_ms bigint not null default 0,
    -- How many failed attempts were followed by another.
    retried integer not null default 0
);

create table windlass_counts (
    tenant_id text not null,
    queue text not null,
    definition text not null,
    pending bigint not null default 0,
    queued bigint not null default 0,
    running bigint not null default 0,
    completed bigint not null default 0,
    canceled bigint not null default 0,
    dead_letter bigint not null default 0,
    primary key (tenant_id, queue, definition)
);

create table windlass_minutes (
    minute timestamptz not null,
    tenant_id text not null,
    queue text not null,
    definition text not null,
    enqueued bigint not null default 0,
    started bigint not null default 0,
    succeeded bigint not null default 0,
    failed bigint not null default 0,
    completed bigint not null default 0,
    canceled bigint not null default 0,
    dead_letter bigint not null default 0,
    run_ms bigint not null default 0,
    wait_ms bigint not null default 0,
    -- By how many the jobs that wait (pending or queued) and those that run became more or fewer.
    waiting_change bigint not null default 0,
    running_change bigint not null default 0,
    primary key (minute, tenant_id, queue, definition)
);

-- Counts of longer slots, made of the minutes when a slot has passed: `span` is their length in seconds.
-- Rows of the empty tenant are of all tenants together.
create table windlass_rollups (
    span integer not null,
    slot timestamptz not null,
    tenant_id text not null,
    queue text not null,
    definition text not null,
    enqueued bigint not null default 0,
    started bigint not null default 0,
    succeeded bigint not null default 0,
    failed bigint not null default 0,
    completed bigint not null default 0,
    canceled bigint not null default 0,
    dead_letter bigint not null default 0,
    run_ms bigint not null default 0,
    wait_ms bigint not null default 0,
    waiting_change bigint not null default 0,
    running_change bigint not null default 0,
    primary key (span, slot, tenant_id, queue, definition)
);

-- Until when the slots of each length are made.
create table windlass_rollup_marks (
    span integer not null primary key,
    until_at timestamptz not null
);

-- Slots of the live workers, noted once a minute.
create table windlass_worker_minutes (
    minute timestamptz not null primary key,
    workers integer not null,
    slots integer not null,
    slots_used integer not null
);

create table windlass_triggers (
    id uuid primary key,
    tenant_id text not null,
    name text not null check (length(name) between 1 and 191),
    type text not null check (type in ('cron', 'interval', 'once', 'init', 'event')),
    definition text not null references windlass_definitions (key),
    payload json not null default '{}',
    enabled boolean not null default true,
    cron text check (length(cron) <= 255),
    interval_seconds double precision check (interval_seconds > 0),
    at timestamptz,
    timezone text not null default 'UTC' check (length(timezone) <= 64),
    misfire text not null default 'fire_once' check (misfire in ('fire_once', 'skip', 'all')),
    overlap text not null default 'allow' check (overlap in ('allow', 'skip', 'queue_one')),
    run_once boolean not null default false,
    event_name text check (length(event_name) between 1 and 191),
    condition json,
    delay_seconds double precision,
    dedupe_window_seconds double precision,
    max_attempts integer check (max_attempts between 1 and 100),
    origin text not null default 'operator' check (origin in ('code', 'operator')),
    -- The fields of a trigger declared in code that an operator changed, and the trigger as in
    -- code.
    edited json not null default '[]',
    code json,
    code_hash text not null default '',
    missing_from_code boolean not null default false,
    next_run_at timestamptz,
    last_run_at timestamptz,
    last_job_id uuid,
    last_error text,
    last_error_at timestamptz,
    created_by text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
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
);
create unique index windlass_triggers_name on windlass_triggers (tenant_id, name);
create index windlass_triggers_due on windlass_triggers (next_run_at) where enabled and next_run_at is not null;
create index windlass_triggers_event on windlass_triggers (tenant_id, event_name) where event_name is not null;
create index windlass_triggers_definition on windlass_triggers (definition);

-- The last firings of each trigger by time: what it made for which due time.
create table windlass_firings (
    trigger_id uuid not null references windlass_triggers (id) on delete cascade,
    due_at timestamptz not null,
    job_id uuid not null,
    primary key (trigger_id, due_at, job_id)
);

create table windlass_events (
    id uuid primary key,
    tenant_id text not null,
    name text not null check (length(name) between 1 and 191),
    data json not null,
    correlation_id text,
    created_by text,
    -- Length of the chain of events before it, in which each led to a job whose handler emitted the
    -- next.
    depth integer not null default 0,
    created_at timestamptz not null,
    -- When its triggers fired; null while the event waits for that.
    matched_at timestamptz,
    jobs integer not null default 0,
    -- The last trigger of the batch that was matched; null before the first batch and after the
    -- last.
    matched_trigger_id uuid,
    -- The result of each trigger, as JSON; null before the event was matched.
    matches json
);
create index windlass_events_waiting on windlass_events (id) where matched_at is null;
create index windlass_events_tenant on windlass_events (tenant_id, id);

-- Queues that an operator paused or limited; others have no row.
create table windlass_queues (
    name text primary key check (length(name) between 1 and 191),
    paused_at timestamptz,
    paused_by text,
    pause_reason text,
    max_concurrency integer check (max_concurrency >= 1),
    updated_at timestamptz not null
);

-- Rate limits: how many attempts started in each part of the window, and until when they count.
create table windlass_starts (
    name text not null,
    slot bigint not null,
    started integer not null,
    until timestamptz not null,
    primary key (name, slot)
);

create table windlass_users (
    id uuid primary key,
    name text not null check (length(name) between 1 and 191),
    password_hash text,
    superadmin boolean not null default false,
    disabled boolean not null default false,
    created_at timestamptz not null,
    last_login_at timestamptz
);
create unique index windlass_users_name on windlass_users (name);

create table windlass_members (
    user_id uuid not null references windlass_users (id) on delete cascade,
    tenant_id text not null check (length(tenant_id) between 1 and 191),
    role text not null check (length(role) between 1 and 64),
    permissions json not null default '[]',
    created_at timestamptz not null,
    primary key (user_id, tenant_id)
);
create index windlass_members_tenant on windlass_members (tenant_id);

-- Secrets are stored as hashes only, here and below.
create table windlass_tokens (
    id uuid primary key,
    name text not null check (length(name) between 1 and 191),
    hash text not null check (length(hash) = 64),
    role text not null check (length(role) between 1 and 64),
    tenant_id text check (length(tenant_id) between 1 and 191),
    -- The rights the token is limited to; null means all rights of its role.
    rights json,
    permissions json not null default '[]',
    created_by uuid references windlass_users (id) on delete set null,
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz
);
create index windlass_tokens_tenant on windlass_tokens (tenant_id, id);
create index windlass_tokens_created_by on windlass_tokens (created_by) where created_by is not null;

create table windlass_sessions (
    id uuid primary key,
    hash text not null check (length(hash) = 64),
    user_id uuid not null references windlass_users (id) on delete cascade,
    created_at timestamptz not null,
    -- Idle expiry, which each request moves on, and absolute expiry.
    expires_at timestamptz not null,
    ends_at timestamptz not null,
    last_seen_at timestamptz not null,
    note text not null default ''
);
create unique index windlass_sessions_hash on windlass_sessions (hash);
create index windlass_sessions_user on windlass_sessions (user_id);
create index windlass_sessions_expires on windlass_sessions (expires_at);

create table windlass_links (
    hash text primary key check (length(hash) = 64),
    purpose text not null check (purpose in ('login', 'password')),
    user_id uuid not null references windlass_users (id) on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz
);
create index windlass_links_user on windlass_links (user_id);
create index windlass_links_expires on windlass_links (expires_at);

-- Login attempts per account or address in the current window: the login rate limit.
create table windlass_login_tries (
    key text primary key check (length(key) between 1 and 100),
    tries integer not null,
    until timestamptz not null
);
create index windlass_login_tries_until on windlass_login_tries (until);

-- Audit entries: one hash chain per tenant; the empty tenant is the installation. Append-only, so
-- the database role needs no more than `insert` and `select`.
create table windlass_audit (
    tenant_id text not null,
    sequence bigint not null check (sequence >= 1),
    at timestamptz not null,
    actor text not null,
    actor_kind text not null,
    actor_name text not null,
    action text not null,
    target_kind text not null,
    target_id text not null,
    outcome text not null check (outcome in ('allowed', 'refused')),
    -- Text, not json: the hash covers the exact text.
    value_before text,
    value_after text,
    request_id text,
    previous_hash text not null,
    hash text not null,
    primary key (tenant_id, sequence)
);

-- The end of each audit chain. Locking its row puts concurrent entries in sequence.
create table windlass_audit_heads (
    tenant_id text primary key,
    sequence bigint not null,
    hash text not null,
    signature text
);

create table windlass_operations (
    id uuid primary key,
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
    created_by uuid references windlass_users (id) on delete set null,
    undo_of uuid,
    created_at timestamptz not null,
    stop_requested_at timestamptz,
    finished_at timestamptz,
    -- The lease of the process that works on it; each taking increments the token.
    token bigint not null default 0,
    taken_until timestamptz not null,
    -- For an update: the changes, as JSON.
    changes text
);
create index windlass_operations_open on windlass_operations (taken_until) where state = 'running';
create index windlass_operations_tenant on windlass_operations (tenant_id, id);
create index windlass_operations_finished on windlass_operations (finished_at) where finished_at is not null;
create index windlass_operations_created_by on windlass_operations (created_by) where created_by is not null;

create table windlass_operation_items (
    operation_id uuid not null references windlass_operations (id) on delete cascade,
    place integer not null,
    job_id uuid not null,
    state text not null default 'waiting' check (state in ('waiting', 'done', 'failed', 'skipped')),
    -- The result for this job, or why it was skipped.
    note text,
    primary key (operation_id, place)
);
create index windlass_operation_items_waiting on windlass_operation_items (operation_id, place) where state = 'waiting';

-- Lifetime totals for the metrics. Unlike counts and minutes they never fall, as a Prometheus
-- counter requires.
create table windlass_totals (
    queue text not null,
    definition text not null,
    enqueued bigint not null default 0,
    started bigint not null default 0,
    succeeded bigint not null default 0,
    failed bigint not null default 0,
    retried bigint not null default 0,
    canceled bigint not null default 0,
    dead_letter bigint not null default 0,
    primary key (queue, definition)
);

-- Latency histograms: waits and runs by upper bound (2147483647 is infinity), by slots of `span` seconds.
-- Rows of the empty tenant are of all tenants together; those with span 0 hold the lifetime totals.
create table windlass_histograms (
    span integer not null,
    slot timestamptz not null,
    tenant_id text not null,
    kind text not null check (kind in ('wait', 'run')),
    queue text not null,
    definition text not null,
    upto_ms integer not null,
    observed bigint not null default 0,
    seconds double precision not null default 0,
    primary key (span, slot, tenant_id, kind, queue, definition, upto_ms)
);

-- Stored responses of requests with an Idempotency-Key: a repeated request gets the same response.
create table windlass_answers (
    -- Hash of caller, method, path and key, so that no caller reads another's response.
    key_hash text primary key check (length(key_hash) = 64),
    -- Empty for the installation.
    tenant_id text not null check (length(tenant_id) <= 191),
    request_hash text not null check (length(request_hash) = 64),
    -- The request that holds the key, and until when; then how long the response is kept.
    holder text not null,
    status smallint,
    body text,
    until timestamptz not null
);
create index windlass_answers_until on windlass_answers (until);

-- Muted causes: their dead-lettered jobs are hidden and send no alerts until `muted_until`.
create table windlass_mutes (
    definition text not null check (length(definition) between 1 and 191),
    -- Empty for jobs whose cause is unknown.
    fingerprint text not null check (length(fingerprint) <= 64),
    -- Empty for all tenants.
    tenant_id text not null check (length(tenant_id) <= 191),
    muted_at timestamptz not null,
    muted_by text,
    muted_until timestamptz,
    reason text,
    primary key (definition, fingerprint, tenant_id)
);

-- The signed audit chains, numbered in the order in which they began.
create table windlass_audit_chains (
    tenant_id text primary key,
    number bigint not null,
    signature text not null
);

-- One row: the number of signed audit chains.
create table windlass_audit_registry (
    id integer primary key check (id = 1),
    chains bigint not null,
    signature text
);

-- Roles offered and not accepted yet. An invitation is for a name, whether or not it has an
-- account.
create table windlass_invitations (
    -- Empty for the installation: the role there is superadmin.
    tenant_id text not null check (length(tenant_id) <= 191),
    name text not null check (length(name) between 1 and 191),
    role text not null check (length(role) between 1 and 64),
    permissions json not null default '[]',
    -- Hash of the secret in the link.
    hash text not null check (length(hash) = 64),
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (tenant_id, name)
);
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
    token_floor bigint not null default 0,
    begun_at timestamptz not null default statement_timestamp()
);

insert into windlass_installation (id, epoch) values (1, md5(random()::text || clock_timestamp()::text));

-- Triggers declared in code that an operator deleted: a sync does not create them again.
create table windlass_deleted_triggers (
    tenant_id text not null,
    -- The trigger's name in code.
    name text not null check (length(name) between 1 and 191),
    definition text not null,
    deleted_at timestamptz not null,
    primary key (tenant_id, name)
);

-- Alerts about causes of dead letters: the last attempt to send one to each receiver.
create table windlass_alerts (
    receiver text not null check (length(receiver) between 1 and 64),
    definition text not null check (length(definition) <= 191),
    fingerprint text not null check (length(fingerprint) <= 64),
    tried_at timestamptz not null,
    -- When the newest job of an alert that was sent was dead-lettered; null before the first.
    told_until timestamptz,
    primary key (receiver, definition, fingerprint)
);
create index windlass_alerts_tried on windlass_alerts (tried_at);

create table windlass_done (
    tenant_id text not null,
    key text not null,
    -- The key is done as long as this job is kept.
    job_id uuid not null,
    at timestamptz not null,
    primary key (tenant_id, key)
);
create index windlass_done_job on windlass_done (job_id);
