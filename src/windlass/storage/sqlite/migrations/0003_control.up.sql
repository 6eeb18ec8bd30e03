-- What operators steer by: definitions they may edit, limits of more kinds, queues that can be
-- paused, and what dead-lettered jobs have in common.

-- Where the code is (`module:name`), the dotted path to call, or the words of a command.
alter table windlass_definitions add column handler text not null default '';
-- The field of the payload whose values are limited one by one, and those limits.
alter table windlass_definitions add column limit_key text;
alter table windlass_definitions add column max_per_key integer check (max_per_key >= 1);
alter table windlass_definitions add column rate_count integer check (rate_count >= 1);
alter table windlass_definitions add column rate_seconds real check (rate_seconds > 0);
alter table windlass_definitions add column key_rate_count integer check (key_rate_count >= 1);
alter table windlass_definitions add column key_rate_seconds real check (key_rate_seconds > 0);
alter table windlass_definitions add column runs_after text not null default '[]';
alter table windlass_definitions add column on_dead_letter text;
alter table windlass_definitions add column memory_limit_mb integer check (memory_limit_mb >= 1);
alter table windlass_definitions add column version integer not null default 1 check (version between 1 and 10000);
alter table windlass_definitions add column metadata text not null default '{}';
alter table windlass_definitions add column origin text not null default 'code' check (origin in ('code', 'operator'));
-- What an operator changed of a definition declared in code, and what the code says.
alter table windlass_definitions add column edited text not null default '[]';
alter table windlass_definitions add column code text;
alter table windlass_definitions add column missing_from_code integer not null default 0;

alter table windlass_tenants add column timezone text not null default 'UTC' check (length(timezone) <= 64);
alter table windlass_tenants add column max_open integer check (max_open >= 0);

-- What was said about a queue; a queue nobody said anything about has no row.
create table windlass_queues (
    name text not null primary key check (length(name) between 1 and 191),
    paused_at integer,
    paused_by text,
    pause_reason text,
    max_concurrency integer check (max_concurrency >= 1),
    updated_at integer not null
) strict;

-- A limit holds for all that has its name; the ones per key for each key behind it.
create table windlass_limits_wider (
    name text not null primary key,
    max_running integer,
    max_per_key integer,
    rate_count integer,
    rate_seconds real,
    key_rate_count integer,
    key_rate_seconds real
) strict, without rowid;
insert into windlass_limits_wider (name, max_running) select name, max_running from windlass_limits;
drop table windlass_limits;
alter table windlass_limits_wider rename to windlass_limits;

-- How many attempts began under a rate, by parts of its time, and until when they count.
create table windlass_starts (
    name text not null,
    slot integer not null,
    started integer not null,
    until integer not null,
    primary key (name, slot)
) strict, without rowid;

-- What the errors of dead-lettered jobs have in common.
drop view windlass_jobs;
alter table windlass_live add column fingerprint text;
alter table windlass_later add column fingerprint text;
alter table windlass_ended add column fingerprint text;
create view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
