-- Rules that make jobs: by time (schedules) and by event, in one table; and the events themselves.

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
    -- What an operator changed of a trigger declared in code, and what the code says.
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

create table if not exists windlass_events (
    id char(36) character set ascii collate ascii_bin not null primary key,
    tenant_id varchar(191) not null,
    name varchar(191) not null,
    data longtext not null,
    correlation_id longtext,
    created_by longtext,
    -- How many events stand before it in its chain: one leads to a job, whose handler emits the next.
    depth integer not null default 0,
    created_at datetime(6) not null,
    -- When its jobs were made; until then it waits to be matched.
    matched_at datetime(6),
    jobs integer not null default 0,
    index windlass_events_waiting (matched_at, id),
    index windlass_events_tenant (tenant_id, id)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
