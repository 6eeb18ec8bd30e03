-- What operators steer by: definitions they may edit, limits of more kinds, queues that can be
-- paused, and what dead-lettered jobs have in common.

alter table windlass_definitions
    -- Where the code is (`module:name`), the dotted path to call, or the words of a command.
    add handler text not null default '',
    -- The field of the payload whose values are limited one by one, and those limits.
    add limit_key text,
    add max_per_key integer check (max_per_key >= 1),
    add rate_count integer check (rate_count >= 1),
    add rate_seconds double precision check (rate_seconds > 0),
    add key_rate_count integer check (key_rate_count >= 1),
    add key_rate_seconds double precision check (key_rate_seconds > 0),
    add runs_after json not null default '[]',
    add on_dead_letter text,
    add memory_limit_mb integer check (memory_limit_mb >= 1),
    add version integer not null default 1 check (version between 1 and 10000),
    add metadata json not null default '{}',
    add origin text not null default 'code' check (origin in ('code', 'operator')),
    -- What an operator changed of a definition declared in code, and what the code says.
    add edited json not null default '[]',
    add code json,
    add missing_from_code boolean not null default false;

alter table windlass_tenants
    add timezone text not null default 'UTC' check (length(timezone) <= 64),
    add max_open integer check (max_open >= 0);

-- What was said about a queue; a queue nobody said anything about has no row.
create table windlass_queues (
    name text primary key check (length(name) between 1 and 191),
    paused_at timestamptz,
    paused_by text,
    pause_reason text,
    max_concurrency integer check (max_concurrency >= 1),
    updated_at timestamptz not null
);

-- A limit holds for all that has its name; the ones per key for each key behind it.
alter table windlass_limits
    alter max_running drop not null,
    add max_per_key integer,
    add rate_count integer,
    add rate_seconds double precision,
    add key_rate_count integer,
    add key_rate_seconds double precision;

-- How many attempts began under a rate, by parts of its time, and until when they count.
create table windlass_starts (
    name text not null,
    slot bigint not null,
    started integer not null,
    until timestamptz not null,
    primary key (name, slot)
);

-- What the errors of dead-lettered jobs have in common.
alter table windlass_live add fingerprint text;
alter table windlass_later add fingerprint text;
alter table windlass_ended add fingerprint text;
create or replace view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
