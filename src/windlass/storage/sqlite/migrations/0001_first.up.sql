-- The first schema. Jobs live in three tables of one shape, so that the line workers draw from
-- stays small: `live` (due or running), `later` (pending or due later), `ended` (history).
-- See docs/decisions/0002. Instants are microseconds since 1970, flags 0 or 1, JSON is text; the
-- texts that can be long stand last in a row, so that reading the others does not walk over them.

create table windlass_tenants (
    id text not null primary key check (length(id) between 1 and 191),
    name text not null,
    state text not null default 'active' check (state in ('active', 'suspended', 'deleted')),
    weight integer not null default 1 check (weight between 1 and 1000),
    max_running integer check (max_running >= 0),
    created_at integer not null default (cast(strftime('%s', 'now') as integer) * 1000000),
    updated_at integer not null default (cast(strftime('%s', 'now') as integer) * 1000000)
) strict;

insert into windlass_tenants (id, name) values ('default', 'Default'), ('system', 'System');

create table windlass_definitions (
    key text not null primary key check (length(key) between 1 and 191),
    enabled integer not null default 1,
    -- The gate its jobs queue behind: empty for ordinary definitions, the key for those that
    -- are limited or disabled. A job whose gate differs is not claimed until it was regated.
    gate text not null default '',
    -- When the gate last changed: for some time after, jobs behind the old one may come to light.
    gated_at integer,
    title text not null,
    description text not null default '',
    kind text not null default 'code' check (kind in ('code', 'path', 'command')),
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
    updated_at integer not null
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
    error_trace text
) strict;

-- The claim's one index holds only what can be claimed, so running jobs never stand in its way.
create index windlass_live_line on windlass_live (queue, tenant_id, gate, priority, due_at, id)
    where state = 'queued';
create index windlass_live_lease on windlass_live (lease_expires_at) where state = 'running';
create index windlass_live_expires on windlass_live (expires_at) where expires_at is not null;

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
    error_trace text
) strict;

create index windlass_later_due on windlass_later (due_at) where state = 'queued';
create index windlass_later_unchecked on windlass_later (id) where unchecked = 1;
create index windlass_later_doomed on windlass_later (id) where cancel_to is not null;
create index windlass_later_expires on windlass_later (expires_at) where expires_at is not null;
create index windlass_later_tenant on windlass_later (tenant_id, id);

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
    error_trace text
) strict;

create index windlass_ended_tenant on windlass_ended (tenant_id, state, id);
create index windlass_ended_definition on windlass_ended (definition, state, id);
-- The few among the many: what operators look for in all tenants.
create index windlass_ended_dead on windlass_ended (id) where state = 'dead_letter';
create index windlass_ended_canceled on windlass_ended (id) where state = 'canceled';

create view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;

-- Who holds a limited resource. A row lives exactly as long as its job's lease.
create table windlass_limits (
    name text not null primary key,
    max_running integer not null
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

-- Tries that the job's own row no longer tells: all but the last.
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
    primary key (job_id, number)
) strict;

-- Steps that job and attempts do not tell: what people did.
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
    last_seen_at integer not null
) strict;

-- Counts without scanning: each batch adds its changes, upkeep folds them into totals.
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
    wait_ms integer not null default 0
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
    primary key (minute, tenant_id, queue, definition)
) strict;
