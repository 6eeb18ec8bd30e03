-- Takes away mutes, and operations that changed waiting jobs; the jobs stay as they were changed.
drop table windlass_mutes;

create table windlass_operations_before (
    id text not null primary key,
    tenant_id text check (length(tenant_id) between 1 and 191),
    action text not null check (action in ('cancel', 'retry', 'run_now', 'discard')),
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
    token integer not null default 0,
    taken_until integer not null
) strict;
insert into windlass_operations_before
select
    id, tenant_id, action, query, reason, state, total, done, failed, skipped, actor, actor_kind, actor_name,
    created_by, undo_of, created_at, stop_requested_at, finished_at, token, taken_until
from windlass_operations where action <> 'update';

create table windlass_operation_items_before (
    operation_id text not null references windlass_operations_before (id) on delete cascade,
    place integer not null,
    job_id text not null,
    state text not null default 'waiting' check (state in ('waiting', 'done', 'failed', 'skipped')),
    note text,
    primary key (operation_id, place)
) strict;
insert into windlass_operation_items_before
select operation_id, place, job_id, state, note from windlass_operation_items
where operation_id in (select id from windlass_operations_before);

drop table windlass_operation_items;
drop table windlass_operations;
alter table windlass_operations_before rename to windlass_operations;
alter table windlass_operation_items_before rename to windlass_operation_items;
create index windlass_operations_open on windlass_operations (taken_until) where state = 'running';
create index windlass_operations_tenant on windlass_operations (tenant_id, id);
create index windlass_operations_finished on windlass_operations (finished_at) where finished_at is not null;
create index windlass_operations_created_by on windlass_operations (created_by) where created_by is not null;
create index windlass_operation_items_waiting on windlass_operation_items (operation_id, place) where state = 'waiting';
