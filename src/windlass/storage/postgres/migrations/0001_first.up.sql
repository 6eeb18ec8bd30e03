-- The first schema. Jobs live in three tables of one shape, so that the line workers draw from
-- stays small: `live` (due or running), `later` (pending or due later), `ended` (history).
-- See docs/decisions/0002.

create table windlass_tenants (
    id text primary key check (length(id) between 1 and 191),
    name text not null,
    state text not null default 'active' check (state in ('active', 'suspended', 'deleted')),
    weight integer not null default 1 check (weight between 1 and 1000),
    max_running integer check (max_running >= 0),
    created_at timestamptz not null default statement_timestamp(),
    updated_at timestamptz not null default statement_timestamp()
);

insert into windlass_tenants (id, name) values ('default', 'Default'), ('system', 'System');

create table windlass_definitions (
    key text primary key check (length(key) between 1 and 191),
    title text not null,
    description text not null default '',
    kind text not null default 'code' check (kind in ('code', 'path', 'command')),
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
    -- The gate its jobs queue behind: empty for ordinary definitions, the key for those that
    -- are limited or disabled. A job whose gate differs is not claimed until it was regated.
    gate text not null default '',
    -- When the gate last changed: for some time after, jobs behind the old one may come to light.
    gated_at timestamptz,
    created_at timestamptz not null default statement_timestamp(),
    updated_at timestamptz not null default statement_timestamp()
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

alter table windlass_later add constraint windlass_later_pkey primary key (id);
alter table windlass_later add constraint windlass_later_state check (state in ('pending', 'queued'));
create index windlass_later_due on windlass_later (due_at) where state = 'queued';
create index windlass_later_unchecked on windlass_later (id) where unchecked;
create index windlass_later_doomed on windlass_later (id) where cancel_to is not null;
create index windlass_later_expires on windlass_later (expires_at) where expires_at is not null;
create index windlass_later_tenant on windlass_later (tenant_id, id);

alter table windlass_ended add constraint windlass_ended_pkey primary key (id);
alter table windlass_ended add constraint windlass_ended_state
    check (state in ('completed', 'canceled', 'dead_letter'));
create index windlass_ended_tenant on windlass_ended (tenant_id, state, id);
-- Ended while a child was being stored: the child has to look.
create index windlass_ended_unchecked on windlass_ended (id) where unchecked;
create index windlass_ended_definition on windlass_ended (definition, state, id);

create view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;

-- One row a claim: where the reaper looks for leases that ran out, instead of an index on them.
create table windlass_claims (
    id bigint generated always as identity primary key,
    worker_id text not null,
    job_ids uuid[] not null,
    look_at timestamptz not null
);
create index windlass_claims_look on windlass_claims (look_at);

-- Who holds a limited resource. A row lives exactly as long as its job's lease.
create table windlass_limits (
    name text primary key,
    max_running integer not null
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

-- Tries that the job's own row no longer tells: all but the last.
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
    primary key (job_id, number)
);

-- Steps that job and attempts do not tell: what people did.
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
    last_seen_at timestamptz not null
);

-- Counts without scanning: each batch adds its changes, upkeep folds them into totals.
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
    wait_ms bigint not null default 0
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
    primary key (minute, tenant_id, queue, definition)
);
