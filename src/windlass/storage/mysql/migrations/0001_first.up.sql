-- The first schema. Jobs live in three tables of one shape, so that the line workers draw from
-- stays small: `live` (due or running), `later` (pending or due later), `ended` (history).
-- See docs/decisions/0002.
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
    -- The gate its jobs queue behind: empty for ordinary definitions, the key for those that
    -- are limited or disabled. A job whose gate differs is not claimed until it was regated.
    gate varchar(191) not null default '',
    -- When the gate last changed: for some time after, jobs behind the old one may come to light.
    gated_at datetime(6),
    created_at datetime(6) not null default current_timestamp(6),
    updated_at datetime(6) not null default current_timestamp(6),
    constraint windlass_definitions_key check (char_length(`key`) between 1 and 191),
    constraint windlass_definitions_kind check (kind in ('code', 'path', 'command')),
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
    gate varchar(191) not null default '',
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
    -- The enqueue that stored this row: how it knows the rows it made from those it met.
    batch bigint unsigned,
    -- As much as a claim will add to the row, so that its page has room for that and stays whole.
    room varbinary(64),
    -- When somebody has to look at this row: the lease has run out, or the time to start has.
    look_at datetime(6) as (
        case when state = 'running' then lease_expires_at when started_at is null then expires_at end
    ) stored,
    check (source in ('manual', 'event', 'schedule', 'system')),
    check (max_attempts between 1 and 100)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_later like windlass_live;
create table if not exists windlass_ended like windlass_live;

alter table windlass_live add constraint windlass_live_state check (state in ('queued', 'running'));
alter table windlass_later add constraint windlass_later_state check (state in ('pending', 'queued'));
alter table windlass_ended add constraint windlass_ended_state
    check (state in ('completed', 'canceled', 'dead_letter'));

-- The claim's index. That a claim moves an entry in it costs less than to step over all jobs that run.
create index windlass_live_line on windlass_live (queue, tenant_id, gate, state, priority, due_at, id);
create index windlass_live_look on windlass_live (look_at);

create index windlass_later_due on windlass_later (state, due_at);
create index windlass_later_unchecked on windlass_later (unchecked, id);
create index windlass_later_doomed on windlass_later (cancel_to, id);
create index windlass_later_look on windlass_later (look_at);
create index windlass_later_tenant on windlass_later (tenant_id, id);

create index windlass_ended_tenant on windlass_ended (tenant_id, state, id);
create index windlass_ended_definition on windlass_ended (definition, state, id);

create or replace view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;

-- Who holds a limited resource. A row lives exactly as long as its job's lease.
create table if not exists windlass_limits (
    name varchar(255) not null primary key,
    max_running integer not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_holds (
    job_id char(36) character set ascii collate ascii_bin not null,
    name varchar(255) not null,
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

-- Tries that the job's own row no longer tells: all but the last.
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
    primary key (job_id, number),
    constraint windlass_attempts_outcome
        check (outcome in ('succeeded', 'failed', 'timed_out', 'canceled', 'lost', 'released'))
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Steps that job and attempts do not tell: what people did.
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
    last_seen_at datetime(6) not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Counts without scanning: each batch adds its changes, upkeep folds them into totals.
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
    wait_ms bigint not null default 0
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
    primary key (`minute`, tenant_id, queue, definition)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
