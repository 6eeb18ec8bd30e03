-- What operators steer by: definitions they may edit, limits of more kinds, queues that can be
-- paused, and what dead-lettered jobs have in common. Each statement can be repeated.

alter table windlass_definitions
    -- Where the code is (`module:name`), the dotted path to call, or the words of a command.
    add column /*M! if not exists */ handler varchar(1000) not null default '',
    -- The field of the payload whose values are limited one by one, and those limits.
    add column /*M! if not exists */ limit_key varchar(191),
    add column /*M! if not exists */ max_per_key integer,
    add column /*M! if not exists */ rate_count integer,
    add column /*M! if not exists */ rate_seconds double,
    add column /*M! if not exists */ key_rate_count integer,
    add column /*M! if not exists */ key_rate_seconds double,
    add column /*M! if not exists */ runs_after longtext not null default ('[]'),
    add column /*M! if not exists */ on_dead_letter varchar(191),
    add column /*M! if not exists */ memory_limit_mb integer,
    add column /*M! if not exists */ version integer not null default 1,
    add column /*M! if not exists */ metadata longtext not null default ('{}'),
    add column /*M! if not exists */ origin varchar(16) character set ascii collate ascii_bin not null default 'code',
    -- What an operator changed of a definition declared in code, and what the code says.
    add column /*M! if not exists */ edited longtext not null default ('[]'),
    add column /*M! if not exists */ code longtext,
    add column /*M! if not exists */ missing_from_code tinyint not null default 0;

alter table windlass_tenants
    add column /*M! if not exists */ timezone varchar(64) not null default 'UTC',
    add column /*M! if not exists */ max_open integer;

-- What was said about a queue; a queue nobody said anything about has no row.
create table if not exists windlass_queues (
    name varchar(191) not null primary key,
    paused_at datetime(6),
    paused_by longtext,
    pause_reason longtext,
    max_concurrency integer,
    updated_at datetime(6) not null,
    constraint windlass_queues_max_concurrency check (max_concurrency >= 1)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- A limit holds for all that has its name; the ones per key for each key behind it.
alter table windlass_limits
    modify column max_running integer,
    add column /*M! if not exists */ max_per_key integer,
    add column /*M! if not exists */ rate_count integer,
    add column /*M! if not exists */ rate_seconds double,
    add column /*M! if not exists */ key_rate_count integer,
    add column /*M! if not exists */ key_rate_seconds double;
alter table windlass_holds modify column name varchar(300) not null;

-- How many attempts began under a rate, by parts of its time, and until when they count.
create table if not exists windlass_starts (
    name varchar(300) not null,
    slot bigint not null,
    started integer not null,
    until datetime(6) not null,
    primary key (name, slot)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- What the errors of dead-lettered jobs have in common. A gate also names a key and a version.
alter table windlass_live modify column gate varchar(255) not null default '', add column /*M! if not exists */ fingerprint varchar(64) character set ascii collate ascii_bin;
alter table windlass_later modify column gate varchar(255) not null default '', add column /*M! if not exists */ fingerprint varchar(64) character set ascii collate ascii_bin;
alter table windlass_ended modify column gate varchar(255) not null default '', add column /*M! if not exists */ fingerprint varchar(64) character set ascii collate ascii_bin;
create or replace view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
