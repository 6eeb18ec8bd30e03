-- Takes away what operators said; jobs and their definitions stay.
drop view windlass_jobs;
alter table windlass_live drop column fingerprint;
alter table windlass_later drop column fingerprint;
alter table windlass_ended drop column fingerprint;
create view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
drop table windlass_starts;
drop table windlass_queues;
create table windlass_limits_narrow (
    name text not null primary key,
    max_running integer not null
) strict, without rowid;
insert into windlass_limits_narrow select name, max_running from windlass_limits where max_running is not null;
drop table windlass_limits;
alter table windlass_limits_narrow rename to windlass_limits;
delete from windlass_holds where name like 'key:%' or name like 'queue:%';
alter table windlass_tenants drop column timezone;
alter table windlass_tenants drop column max_open;
alter table windlass_definitions drop column handler;
alter table windlass_definitions drop column limit_key;
alter table windlass_definitions drop column max_per_key;
alter table windlass_definitions drop column rate_count;
alter table windlass_definitions drop column rate_seconds;
alter table windlass_definitions drop column key_rate_count;
alter table windlass_definitions drop column key_rate_seconds;
alter table windlass_definitions drop column runs_after;
alter table windlass_definitions drop column on_dead_letter;
alter table windlass_definitions drop column memory_limit_mb;
alter table windlass_definitions drop column version;
alter table windlass_definitions drop column metadata;
alter table windlass_definitions drop column origin;
alter table windlass_definitions drop column edited;
alter table windlass_definitions drop column code;
alter table windlass_definitions drop column missing_from_code;
update windlass_definitions set gate = case when max_concurrency is null and enabled then '' else key end,
    gated_at = cast(strftime('%s', 'now') as integer) * 1000000;
