-- The schema. A job's row is in one of three tables of one shape, so that the table workers claim
-- from stays small: `live` (due or running), `later` (pending or due later), `ended` (completed,
-- canceled or dead-lettered). See docs/decisions/0002.
--
-- Statements about tables are committed one by one here. Each can be repeated, so that a migration
-- that died half way is simply run again.
--
-- Names are compared as they are: case, accents and trailing spaces count. MariaDB and MySQL have
-- different names for the collation that does so; each reads only its own comment.

create table if not exists windlass_tenants (
    id varchar(191) not null primary key,
    name longtext not null,
    state varchar(16) character set ascii collate ascii_bin not null default 'active',
    weight integer not null default 1,
    max_running integer,
    created_at datetime(6) not null default current_timestamp(6),
    updated_at datetime(6) not null default current_timestamp(6),
    timezone varchar(64) not null default 'UTC',
    max_open integer,
    constraint windlass_tenants_id check (char_length(id) between 1 and 191),
    constraint windlass_tenants_state check (state in ('active', 'suspended', 'deleted')),
    constraint windlass_tenants_weight check (weight between 1 and 1000),
    constraint windlass_tenants_max_running check (max_running >= 0)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

insert into windlass_tenants (id, name) values ('default', 'Default'), ('system', 'System')
on duplicate key update windlass_tenants.id = windlass_tenants.id;

create table if not exists windlass_definitions (
    `key` varchar(191) not null primary key,
    title longtext not null,
    description longtext not null,
    kind varchar(16) character set ascii collate ascii_bin not null default 'code',
    queue varchar(191) not null default 'default',
    priority integer not null default 100,
    max_attempts integer not null default 3,
    backoff longtext,
    timeout_seconds double,
    isolation varchar(16) character set ascii collate ascii_bin not null default 'thread',
    max_concurrency integer,
    payload_schema longtext not null,
    default_payload longtext not null,
    tags longtext not null,
    enabled tinyint not null default 1,
    `system` tinyint not null default 0,
    idempotent tinyint not null default 0,
    requires_permission longtext,
    dedupe longtext,
    dedupe_window_seconds double,
    on_duplicate varchar(16) character set ascii collate ascii_bin not null default 'existing',
    on_parent_failure varchar(16) character set ascii collate ascii_bin not null default 'cancel',
    retention_days double,
    log_retention_days double,
    retention_count integer,
    code_hash longtext not null,
    -- The gate of its jobs: empty for a definition without limits, the key for one that is limited
    -- or disabled. A claim takes no job whose gate differs; upkeep moves it to this gate.
    gate varchar(191) not null default '',
    -- When the gate last changed: a transaction that began before may still store jobs with the
    -- old one.
    gated_at datetime(6),
    created_at datetime(6) not null default current_timestamp(6),
    updated_at datetime(6) not null default current_timestamp(6),
    -- The handler: `module:name`, the dotted path to call, or the argv of a command.
    handler varchar(1000) not null default '',
    -- The payload field whose value is the limit key, and the limits for each key.
    limit_key varchar(191),
    max_per_key integer,
    rate_count integer,
    rate_seconds double,
    key_rate_count integer,
    key_rate_seconds double,
    runs_after longtext not null default ('[]'),
    on_dead_letter varchar(191),
    memory_limit_mb integer,
    version integer not null default 1,
    metadata longtext not null default ('{}'),
    runbook_url longtext,
    origin varchar(16) character set ascii collate ascii_bin not null default 'code',
    -- The fields of a definition declared in code that an operator changed, and the definition as
    -- in code.
    edited longtext not null default ('[]'),
    code longtext,
    missing_from_code tinyint not null default 0,
    constraint windlass_definitions_key check (char_length(`key`) between 1 and 191),
    constraint windlass_definitions_kind check (kind in ('code', 'path', 'command', 'remote')),
    constraint windlass_definitions_max_attempts check (max_attempts between 1 and 100),
    constraint windlass_definitions_isolation check (isolation in ('thread', 'process')),
    constraint windlass_definitions_max_concurrency check (max_concurrency >= 1),
    constraint windlass_definitions_on_parent_failure check (on_parent_failure in ('cancel', 'run', 'wait'))
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_live (
    id char(36) character set ascii collate ascii_bin not null primary key,
    tenant_id varchar(191) not null,
    definition varchar(191) not null,
    queue varchar(191) not null,
    gate varchar(255) not null default '',
    state varchar(16) character set ascii collate ascii_bin not null,
    priority integer not null,
    due_at datetime(6) not null,
    payload longtext not null,
    metadata longtext,
    source varchar(16) character set ascii collate ascii_bin not null default 'manual',
    source_ref longtext,
    correlation_id longtext,
    created_by longtext,
    trigger_id char(36) character set ascii collate ascii_bin,
    trigger_due_at datetime(6),
    dedupe_key varchar(191),
    idempotency_key varchar(191),
    on_parent_failure varchar(16) character set ascii collate ascii_bin not null default 'cancel',
    waits integer not null default 0,
    held tinyint not null default 0,
    unchecked tinyint not null default 0,
    expires_at datetime(6),
    attempts integer not null default 0,
    max_attempts integer not null default 3,
    worker_deaths integer not null default 0,
    lease_token bigint not null default 0,
    lease_expires_at datetime(6),
    worker_id longtext,
    timeout_seconds double,
    cancel_requested_at datetime(6),
    cancel_requested_by longtext,
    cancel_to varchar(16) character set ascii collate ascii_bin,
    created_at datetime(6) not null,
    queued_at datetime(6),
    started_at datetime(6),
    last_started_at datetime(6),
    finished_at datetime(6),
    updated_at datetime(6) not null,
    progress double not null default 0,
    progress_note longtext,
    outcome varchar(16) character set ascii collate ascii_bin,
    result longtext,
    warnings longtext,
    last_error longtext,
    error_type longtext,
    error_trace longtext,
    reason longtext,
    log_sequence integer not null default 0,
    -- The enqueue that stored this row: tells its new rows from those that were there before.
    batch bigint unsigned,
    -- Padding of the size that a claim adds to the row, so that the claim does not split its page.
    room varbinary(64),
    -- When upkeep has to look at this row: at the end of the lease, or of the time to start.
    look_at datetime(6) as (
        case when state = 'running' then lease_expires_at when started_at is null then expires_at end
    ) stored,
    -- Groups dead-lettered jobs with the same cause of failure.
    fingerprint varchar(64) character set ascii collate ascii_bin,
    error_class varchar(16) character set ascii collate ascii_bin,
    check (source in ('manual', 'event', 'schedule', 'system')),
    check (max_attempts between 1 and 100)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_later like windlass_live;
create table if not exists windlass_ended like windlass_live;

alter table windlass_live add constraint windlass_live_state check (state in ('queued', 'running'));
alter table windlass_later add constraint windlass_later_state check (state in ('pending', 'queued'));
alter table windlass_ended add constraint windlass_ended_state
    check (state in ('completed', 'canceled', 'dead_letter'));

-- The claim's index. That a claim moves an entry in it costs less than to step over all jobs that
-- run.
create index windlass_live_line on windlass_live (queue, tenant_id, gate, state, priority, due_at, id);
create index windlass_live_look on windlass_live (look_at);

create index windlass_later_due on windlass_later (state, due_at);
create index windlass_later_unchecked on windlass_later (unchecked, id);
create index windlass_later_doomed on windlass_later (cancel_to, id);
create index windlass_later_look on windlass_later (look_at);
create index windlass_later_tenant on windlass_later (tenant_id, id);

create index windlass_ended_tenant on windlass_ended (tenant_id, state, id);
create index windlass_ended_definition on windlass_ended (definition, state, id);
create index windlass_ended_correlation on windlass_ended (correlation_id(191), id);
create index windlass_ended_creator on windlass_ended (created_by(191), state, id);

create or replace view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;

-- Concurrency and rate limits, by name (`definition:…`, `tenant:…`, `queue:…`), and which running
-- jobs count under them: a row in holds exists exactly as long as its job's lease.
create table if not exists windlass_limits (
    name varchar(255) not null primary key,
    max_running integer,
    -- For each limit key of the definition.
    max_per_key integer,
    rate_count integer,
    rate_seconds double,
    key_rate_count integer,
    key_rate_seconds double
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_holds (
    job_id char(36) character set ascii collate ascii_bin not null,
    name varchar(300) not null,
    primary key (job_id, name),
    index windlass_holds_name (name)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_keys (
    tenant_id varchar(191) not null,
    kind varchar(16) character set ascii collate ascii_bin not null,
    `key` varchar(191) not null,
    job_id char(36) character set ascii collate ascii_bin not null,
    open tinyint not null default 1,
    until datetime(6) not null,
    primary key (tenant_id, kind, `key`),
    index windlass_keys_job (job_id),
    index windlass_keys_until (open, until),
    constraint windlass_keys_kind check (kind in ('dedupe', 'idempotency'))
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_parents (
    child_id char(36) character set ascii collate ascii_bin not null,
    parent_id char(36) character set ascii collate ascii_bin not null,
    policy varchar(16) character set ascii collate ascii_bin not null,
    settled tinyint not null default 0,
    primary key (child_id, parent_id),
    index windlass_parents_parent (parent_id),
    constraint windlass_parents_policy check (policy in ('cancel', 'run', 'wait'))
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- All attempts of a job but the last, which is in the job's own row.
create table if not exists windlass_attempts (
    job_id char(36) character set ascii collate ascii_bin not null,
    number bigint not null,
    worker_id longtext,
    started_at datetime(6) not null,
    finished_at datetime(6) not null,
    outcome varchar(16) character set ascii collate ascii_bin not null,
    error longtext,
    error_type longtext,
    error_trace longtext,
    pid integer,
    exit_code integer,
    stdout_tail longtext,
    stderr_tail longtext,
    error_class varchar(16) character set ascii collate ascii_bin,
    primary key (job_id, number),
    constraint windlass_attempts_outcome
        check (outcome in ('succeeded', 'failed', 'timed_out', 'canceled', 'lost', 'released'))
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- State changes made by people; those made by attempts follow from job and attempts.
create table if not exists windlass_transitions (
    id bigint not null auto_increment primary key,
    job_id char(36) character set ascii collate ascii_bin not null,
    at datetime(6) not null,
    from_state varchar(16) character set ascii collate ascii_bin not null,
    to_state varchar(16) character set ascii collate ascii_bin not null,
    actor longtext,
    message longtext,
    index windlass_transitions_job (job_id, at)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_logs (
    job_id char(36) character set ascii collate ascii_bin not null,
    sequence integer not null,
    attempt bigint not null,
    tenant_id varchar(191) not null,
    definition varchar(191) not null,
    level varchar(16) character set ascii collate ascii_bin not null,
    message longtext not null,
    fields longtext,
    created_at datetime(6) not null,
    -- The message's words in lower case, each behind `ww`: the server would leave out short words
    -- and common ones, and these are neither.
    words longtext not null,
    primary key (job_id, sequence),
    index windlass_logs_definition (definition, created_at),
    index windlass_logs_created (created_at),
    fulltext index windlass_logs_words (words),
    constraint windlass_logs_level check (level in ('debug', 'info', 'warn', 'error'))
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_workers (
    id varchar(191) not null primary key,
    hostname longtext not null,
    pid integer not null,
    version longtext not null,
    queues longtext not null,
    definitions longtext not null,
    slots integer not null,
    slots_used integer not null default 0,
    lease_seconds double not null,
    metadata longtext not null,
    started_at datetime(6) not null,
    last_seen_at datetime(6) not null,
    memory_mb integer,
    -- The version of the code it runs.
    code varchar(191),
    wanted varchar(16) character set ascii collate ascii_bin not null default 'run',
    wanted_by longtext,
    wanted_at datetime(6),
    doing varchar(16) character set ascii collate ascii_bin not null default 'run'
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Which code each worker ran; kept after the worker is gone, to say what a job failed with.
create table if not exists windlass_worker_codes (
    worker_id varchar(191) not null primary key,
    code varchar(191) not null,
    recorded_at datetime(6) not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
create index windlass_worker_codes_code on windlass_worker_codes (code);

-- Counts without a scan: each batch appends its changes here, upkeep adds them to the counts.
create table if not exists windlass_deltas (
    id bigint not null auto_increment primary key,
    at datetime(6) not null,
    tenant_id varchar(191) not null,
    queue varchar(191) not null,
    definition varchar(191) not null,
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
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_counts (
    tenant_id varchar(191) not null,
    queue varchar(191) not null,
    definition varchar(191) not null,
    pending bigint not null default 0,
    queued bigint not null default 0,
    running bigint not null default 0,
    completed bigint not null default 0,
    canceled bigint not null default 0,
    dead_letter bigint not null default 0,
    primary key (tenant_id, queue, definition)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_minutes (
    `minute` datetime(6) not null,
    tenant_id varchar(191) not null,
    queue varchar(191) not null,
    definition varchar(191) not null,
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
    primary key (`minute`, tenant_id, queue, definition)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Counts of longer slots, made of the minutes when a slot has passed: `span` is their length in seconds.
-- Rows of the empty tenant are of all tenants together.
create table if not exists windlass_rollups (
    span integer not null,
    slot datetime(6) not null,
    tenant_id varchar(191) not null,
    queue varchar(191) not null,
    definition varchar(191) not null,
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
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Until when the slots of each length are made.
create table if not exists windlass_rollup_marks (
    span integer not null primary key,
    until_at datetime(6) not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Slots of the live workers, noted once a minute.
create table if not exists windlass_worker_minutes (
    `minute` datetime(6) not null primary key,
    workers integer not null,
    slots integer not null,
    slots_used integer not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_triggers (
    id char(36) character set ascii collate ascii_bin not null primary key,
    tenant_id varchar(191) not null,
    name varchar(191) not null,
    type varchar(16) character set ascii collate ascii_bin not null,
    definition varchar(191) not null,
    payload longtext not null,
    enabled tinyint(1) not null default 1,
    cron varchar(255),
    interval_seconds double,
    at datetime(6),
    timezone varchar(64) not null default 'UTC',
    misfire varchar(16) character set ascii collate ascii_bin not null default 'fire_once',
    overlap varchar(16) character set ascii collate ascii_bin not null default 'allow',
    run_once tinyint(1) not null default 0,
    event_name varchar(191),
    `condition` longtext,
    delay_seconds double,
    dedupe_window_seconds double,
    max_attempts integer,
    origin varchar(16) character set ascii collate ascii_bin not null default 'operator',
    -- The fields of a trigger declared in code that an operator changed, and the trigger as in
    -- code.
    edited longtext not null,
    code longtext,
    code_hash varchar(64) character set ascii collate ascii_bin not null default '',
    missing_from_code tinyint(1) not null default 0,
    next_run_at datetime(6),
    last_run_at datetime(6),
    last_job_id char(36) character set ascii collate ascii_bin,
    last_error longtext,
    last_error_at datetime(6),
    created_by longtext,
    created_at datetime(6) not null,
    updated_at datetime(6) not null,
    saved_by varchar(191),
    -- Template of the dedupe key of its jobs.
    dedupe_key longtext,
    constraint windlass_triggers_name_length check (char_length(name) between 1 and 191),
    constraint windlass_triggers_type check (type in ('cron', 'interval', 'once', 'init', 'event')),
    constraint windlass_triggers_interval check (interval_seconds > 0),
    constraint windlass_triggers_misfire check (misfire in ('fire_once', 'skip', 'all')),
    constraint windlass_triggers_overlap check (overlap in ('allow', 'skip', 'queue_one')),
    constraint windlass_triggers_attempts check (max_attempts between 1 and 100),
    constraint windlass_triggers_origin check (origin in ('code', 'operator')),
    -- A trigger has exactly the fields of its type.
    constraint windlass_triggers_fields check (
        (type = 'event') = (event_name is not null)
        and (type = 'cron') = (cron is not null)
        and (type = 'interval') = (interval_seconds is not null)
        and (type = 'once') = (at is not null)
    ),
    unique index windlass_triggers_name (tenant_id, name),
    index windlass_triggers_due (enabled, next_run_at),
    index windlass_triggers_event (tenant_id, event_name),
    constraint windlass_triggers_definition foreign key (definition) references windlass_definitions (`key`)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- The last firings of each trigger by time: what it made for which due time.
create table if not exists windlass_firings (
    trigger_id char(36) character set ascii collate ascii_bin not null,
    due_at datetime(6) not null,
    job_id char(36) character set ascii collate ascii_bin not null,
    primary key (trigger_id, due_at, job_id),
    foreign key (trigger_id) references windlass_triggers (id) on delete cascade
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_events (
    id char(36) character set ascii collate ascii_bin not null primary key,
    tenant_id varchar(191) not null,
    name varchar(191) not null,
    data longtext not null,
    correlation_id longtext,
    created_by longtext,
    -- Length of the chain of events before it, in which each led to a job whose handler emitted the
    -- next.
    depth integer not null default 0,
    created_at datetime(6) not null,
    -- When its triggers fired; null while the event waits for that.
    matched_at datetime(6),
    jobs integer not null default 0,
    -- The last trigger of the batch that was matched; null before the first batch and after the
    -- last.
    matched_trigger_id char(36) character set ascii collate ascii_bin,
    -- The result of each trigger, as JSON; null before the event was matched.
    matches longtext,
    index windlass_events_waiting (matched_at, id),
    index windlass_events_tenant (tenant_id, id)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Queues that an operator paused or limited; others have no row.
create table if not exists windlass_queues (
    name varchar(191) not null primary key,
    paused_at datetime(6),
    paused_by longtext,
    pause_reason longtext,
    max_concurrency integer,
    updated_at datetime(6) not null,
    constraint windlass_queues_max_concurrency check (max_concurrency >= 1)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Rate limits: how many attempts started in each part of the window, and until when they count.
create table if not exists windlass_starts (
    name varchar(300) not null,
    slot bigint not null,
    started integer not null,
    until datetime(6) not null,
    primary key (name, slot)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_users (
    id char(36) character set ascii collate ascii_bin not null primary key,
    name varchar(191) not null,
    password_hash varchar(500) character set ascii collate ascii_bin,
    superadmin tinyint(1) not null default 0,
    disabled tinyint(1) not null default 0,
    created_at datetime(6) not null,
    last_login_at datetime(6),
    constraint windlass_users_name_length check (char_length(name) between 1 and 191),
    unique index windlass_users_name (name)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_members (
    user_id char(36) character set ascii collate ascii_bin not null,
    tenant_id varchar(191) not null,
    role varchar(64) not null,
    permissions longtext not null default ('[]'),
    created_at datetime(6) not null,
    primary key (user_id, tenant_id),
    index windlass_members_tenant (tenant_id),
    constraint windlass_members_named check (char_length(tenant_id) >= 1 and char_length(role) >= 1),
    constraint windlass_members_user foreign key (user_id) references windlass_users (id) on delete cascade
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Secrets are stored as hashes only, here and below.
create table if not exists windlass_tokens (
    id char(36) character set ascii collate ascii_bin not null primary key,
    name varchar(191) not null,
    hash char(64) character set ascii collate ascii_bin not null,
    role varchar(64) not null,
    tenant_id varchar(191),
    -- The rights the token is limited to; null means all rights of its role.
    rights longtext,
    permissions longtext not null default ('[]'),
    created_by char(36) character set ascii collate ascii_bin,
    created_at datetime(6) not null,
    expires_at datetime(6),
    last_used_at datetime(6),
    revoked_at datetime(6),
    index windlass_tokens_tenant (tenant_id, id),
    constraint windlass_tokens_named check (char_length(name) >= 1 and char_length(role) >= 1 and char_length(tenant_id) >= 1),
    constraint windlass_tokens_hash check (char_length(hash) = 64),
    constraint windlass_tokens_created_by foreign key (created_by) references windlass_users (id) on delete set null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_sessions (
    id char(36) character set ascii collate ascii_bin not null primary key,
    hash char(64) character set ascii collate ascii_bin not null,
    user_id char(36) character set ascii collate ascii_bin not null,
    created_at datetime(6) not null,
    -- Idle expiry, which each request moves on, and absolute expiry.
    expires_at datetime(6) not null,
    ends_at datetime(6) not null,
    last_seen_at datetime(6) not null,
    note varchar(500) not null default '',
    unique index windlass_sessions_hash (hash),
    index windlass_sessions_expires (expires_at),
    constraint windlass_sessions_hash_length check (char_length(hash) = 64),
    constraint windlass_sessions_user foreign key (user_id) references windlass_users (id) on delete cascade
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_links (
    hash char(64) character set ascii collate ascii_bin not null primary key,
    purpose varchar(16) character set ascii collate ascii_bin not null,
    user_id char(36) character set ascii collate ascii_bin not null,
    created_at datetime(6) not null,
    expires_at datetime(6) not null,
    used_at datetime(6),
    index windlass_links_expires (expires_at),
    constraint windlass_links_hash_length check (char_length(hash) = 64),
    constraint windlass_links_purpose check (purpose in ('login', 'password')),
    constraint windlass_links_user foreign key (user_id) references windlass_users (id) on delete cascade
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Login attempts per account or address in the current window: the login rate limit.
create table if not exists windlass_login_tries (
    `key` varchar(100) not null primary key,
    tries integer not null,
    until datetime(6) not null,
    index windlass_login_tries_until (until),
    constraint windlass_login_tries_key check (char_length(`key`) >= 1)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Audit entries: one hash chain per tenant; the empty tenant is the installation. Append-only, so
-- the database role needs no more than `insert` and `select`.
create table if not exists windlass_audit (
    tenant_id varchar(191) not null,
    sequence bigint not null,
    at datetime(6) not null,
    actor varchar(500) not null,
    actor_kind varchar(16) character set ascii collate ascii_bin not null,
    actor_name varchar(500) not null,
    action varchar(191) not null,
    target_kind varchar(191) not null,
    target_id varchar(500) not null,
    outcome varchar(16) character set ascii collate ascii_bin not null,
    value_before longtext,
    value_after longtext,
    request_id varchar(500),
    previous_hash char(64) character set ascii collate ascii_bin not null,
    hash char(64) character set ascii collate ascii_bin not null,
    primary key (tenant_id, sequence),
    constraint windlass_audit_sequence check (sequence >= 1),
    constraint windlass_audit_outcome check (outcome in ('allowed', 'refused'))
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- The end of each audit chain. Locking its row puts concurrent entries in sequence.
create table if not exists windlass_audit_heads (
    tenant_id varchar(191) not null primary key,
    sequence bigint not null,
    hash char(64) character set ascii collate ascii_bin not null,
    signature varchar(191) character set ascii collate ascii_bin
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_operations (
    id char(36) character set ascii collate ascii_bin not null primary key,
    tenant_id varchar(191),
    action varchar(16) character set ascii collate ascii_bin not null,
    query longtext not null,
    reason longtext,
    state varchar(16) character set ascii collate ascii_bin not null default 'running',
    total integer not null,
    done integer not null default 0,
    failed integer not null default 0,
    skipped integer not null default 0,
    actor varchar(500) not null,
    actor_kind varchar(16) character set ascii collate ascii_bin not null,
    actor_name varchar(500) not null,
    created_by char(36) character set ascii collate ascii_bin,
    undo_of char(36) character set ascii collate ascii_bin,
    created_at datetime(6) not null,
    stop_requested_at datetime(6),
    finished_at datetime(6),
    -- The lease of the process that works on it; each taking increments the token.
    token bigint not null default 0,
    taken_until datetime(6) not null,
    changes longtext,
    index windlass_operations_open (state, taken_until),
    index windlass_operations_tenant (tenant_id, id),
    index windlass_operations_finished (finished_at),
    constraint windlass_operations_tenant_named check (char_length(tenant_id) >= 1),
    constraint windlass_operations_action check (action in ('cancel', 'retry', 'run_now', 'discard', 'update')),
    constraint windlass_operations_state check (state in ('running', 'completed', 'stopped')),
    constraint windlass_operations_total check (total >= 0),
    constraint windlass_operations_created_by foreign key (created_by) references windlass_users (id) on delete set null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_operation_items (
    operation_id char(36) character set ascii collate ascii_bin not null,
    place integer not null,
    job_id char(36) character set ascii collate ascii_bin not null,
    state varchar(16) character set ascii collate ascii_bin not null default 'waiting',
    -- The result for this job, or why it was skipped.
    note longtext,
    primary key (operation_id, place),
    index windlass_operation_items_waiting (operation_id, state, place),
    constraint windlass_operation_items_state check (state in ('waiting', 'done', 'failed', 'skipped')),
    constraint windlass_operation_items_operation foreign key (operation_id) references windlass_operations (id) on delete cascade
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Lifetime totals for the metrics. Unlike counts and minutes they never fall, as a Prometheus
-- counter requires.
create table if not exists windlass_totals (
    queue varchar(191) not null,
    definition varchar(191) not null,
    enqueued bigint not null default 0,
    started bigint not null default 0,
    succeeded bigint not null default 0,
    failed bigint not null default 0,
    retried bigint not null default 0,
    canceled bigint not null default 0,
    dead_letter bigint not null default 0,
    primary key (queue, definition)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Latency histograms: waits and runs by upper bound (2147483647 is infinity), by slots of `span` seconds.
-- Rows of the empty tenant are of all tenants together; those with span 0 hold the lifetime totals.
create table if not exists windlass_histograms (
    span integer not null,
    slot datetime(6) not null,
    tenant_id varchar(191) not null,
    kind varchar(16) character set ascii collate ascii_bin not null,
    queue varchar(191) not null,
    definition varchar(191) not null,
    upto_ms integer not null,
    observed bigint not null default 0,
    seconds double not null default 0,
    primary key (span, slot, tenant_id, kind, queue, definition, upto_ms)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Stored responses of requests with an Idempotency-Key: a repeated request gets the same response.
create table if not exists windlass_answers (
    -- Hash of caller, method, path and key, so that no caller reads another's response.
    key_hash char(64) character set ascii collate ascii_bin not null primary key,
    -- Empty for the installation.
    tenant_id varchar(191) not null,
    request_hash char(64) character set ascii collate ascii_bin not null,
    -- The request that holds the key, and until when; then how long the response is kept.
    holder varchar(64) character set ascii collate ascii_bin not null,
    status smallint,
    body longtext,
    until datetime(6) not null,
    index windlass_answers_until (until)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Muted causes: their dead-lettered jobs are hidden and send no alerts until `muted_until`.
create table if not exists windlass_mutes (
    definition varchar(191) not null,
    -- Empty for jobs whose cause is unknown.
    fingerprint varchar(64) character set ascii collate ascii_bin not null,
    -- Empty for all tenants.
    tenant_id varchar(191) not null,
    muted_at datetime(6) not null,
    muted_by longtext,
    muted_until datetime(6),
    reason longtext,
    primary key (definition, fingerprint, tenant_id)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- The signed audit chains, numbered in the order in which they began.
create table if not exists windlass_audit_chains (
    tenant_id varchar(191) not null primary key,
    number bigint not null,
    signature varchar(191) character set ascii collate ascii_bin not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- One row: the number of signed audit chains.
create table if not exists windlass_audit_registry (
    id integer not null primary key,
    chains bigint not null,
    signature varchar(191) character set ascii collate ascii_bin,
    constraint windlass_audit_registry_single check (id = 1)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Roles offered and not accepted yet. An invitation is for a name, whether or not it has an
-- account.
create table if not exists windlass_invitations (
    -- Empty for the installation: the role there is superadmin.
    tenant_id varchar(191) not null,
    name varchar(191) not null,
    role varchar(64) not null,
    permissions longtext not null default ('[]'),
    -- Hash of the secret in the link.
    hash char(64) character set ascii collate ascii_bin not null,
    created_at datetime(6) not null,
    expires_at datetime(6) not null,
    primary key (tenant_id, name),
    unique index windlass_invitations_hash (hash),
    index windlass_invitations_name (name),
    index windlass_invitations_expires (expires_at),
    constraint windlass_invitations_named check (char_length(name) >= 1 and char_length(role) >= 1)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- One row: the installation's epoch.
create table if not exists windlass_installation (
    id integer primary key check (id = 1),
    -- Changes when the database was restored, or promoted without its last transactions.
    epoch varchar(64) character set ascii collate ascii_bin not null,
    -- The server of this epoch, where the database has an identity for it.
    server varchar(191) character set ascii collate ascii_bin,
    -- All lease tokens of this epoch are greater, so that no token is issued twice.
    token_floor bigint not null default 0,
    begun_at datetime(6) not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

insert ignore into windlass_installation (id, epoch, begun_at) values (1, uuid(), utc_timestamp(6));

-- Triggers declared in code that an operator deleted: a sync does not create them again.
create table if not exists windlass_deleted_triggers (
    tenant_id varchar(191) not null,
    -- The trigger's name in code.
    name varchar(191) not null,
    definition varchar(191) not null,
    deleted_at datetime(6) not null,
    primary key (tenant_id, name)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Alerts about causes of dead letters: the last attempt to send one to each receiver.
create table if not exists windlass_alerts (
    receiver varchar(64) character set ascii collate ascii_bin not null,
    definition varchar(191) not null,
    fingerprint varchar(64) character set ascii collate ascii_bin not null,
    tried_at datetime(6) not null,
    -- When the newest job of an alert that was sent was dead-lettered; null before the first.
    told_until datetime(6),
    primary key (receiver, definition, fingerprint),
    index windlass_alerts_tried (tried_at)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_done (
    tenant_id varchar(191) not null,
    `key` varchar(191) not null,
    -- The key is done as long as this job is kept.
    job_id char(36) character set ascii collate ascii_bin not null,
    at datetime(6) not null,
    primary key (tenant_id, `key`),
    index windlass_done_job (job_id)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
