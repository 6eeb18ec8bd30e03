-- Waiting jobs that are changed in bulk, and causes of failure that people do not want to hear of.

-- An action has one more kind, and what it changes. The tables are made anew: a check cannot be altered.
create table windlass_operations_wider (
    id text not null primary key,
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
    created_by text references windlass_users (id) on delete set null,
    undo_of text,
    created_at integer not null,
    stop_requested_at integer,
    finished_at integer,
    -- Who works on it holds the token until then; each taking makes a new one.
    token integer not null default 0,
    taken_until integer not null,
    -- What an update changes, as JSON; nothing else has any.
    changes text
) strict;
insert into windlass_operations_wider (
    id, tenant_id, action, query, reason, state, total, done, failed, skipped, actor, actor_kind, actor_name,
    created_by, undo_of, created_at, stop_requested_at, finished_at, token, taken_until)
select
    id, tenant_id, action, query, reason, state, total, done, failed, skipped, actor, actor_kind, actor_name,
    created_by, undo_of, created_at, stop_requested_at, finished_at, token, taken_until
from windlass_operations;

create table windlass_operation_items_wider (
    operation_id text not null references windlass_operations_wider (id) on delete cascade,
    place integer not null,
    job_id text not null,
    state text not null default 'waiting' check (state in ('waiting', 'done', 'failed', 'skipped')),
    -- What became of the job, or why nothing did.
    note text,
    primary key (operation_id, place)
) strict;
insert into windlass_operation_items_wider select operation_id, place, job_id, state, note from windlass_operation_items;

drop table windlass_operation_items;
drop table windlass_operations;
alter table windlass_operations_wider rename to windlass_operations;
alter table windlass_operation_items_wider rename to windlass_operation_items;
create index windlass_operations_open on windlass_operations (taken_until) where state = 'running';
create index windlass_operations_tenant on windlass_operations (tenant_id, id);
create index windlass_operations_finished on windlass_operations (finished_at) where finished_at is not null;
create index windlass_operations_created_by on windlass_operations (created_by) where created_by is not null;
create index windlass_operation_items_waiting on windlass_operation_items (operation_id, place) where state = 'waiting';

-- Dead-lettered jobs of one cause that are not shown, and do not alarm anybody, until then.
create table windlass_mutes (
    definition text not null check (length(definition) between 1 and 191),
    -- The empty one is the cause that nobody knows.
    fingerprint text not null check (length(fingerprint) <= 64),
    -- The empty one means all tenants.
    tenant_id text not null check (length(tenant_id) <= 191),
    muted_at integer not null,
    muted_by text,
    muted_until integer,
    reason text,
    primary key (definition, fingerprint, tenant_id)
) strict, without rowid;
