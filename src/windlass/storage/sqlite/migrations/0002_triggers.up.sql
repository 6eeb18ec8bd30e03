-- Rules that make jobs: by time (schedules) and by event, in one table; and the events themselves.

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
    -- What an operator changed of a trigger declared in code, and what the code says.
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

create table windlass_events (
    id text not null primary key,
    tenant_id text not null,
    name text not null check (length(name) between 1 and 191),
    correlation_id text,
    created_by text,
    -- How many events stand before it in its chain: one leads to a job, whose handler emits the next.
    depth integer not null default 0,
    created_at integer not null,
    -- When its jobs were made; until then it waits to be matched.
    matched_at integer,
    jobs integer not null default 0,
    data text not null
) strict;
create index windlass_events_waiting on windlass_events (id) where matched_at is null;
create index windlass_events_tenant on windlass_events (tenant_id, id);
