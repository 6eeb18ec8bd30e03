-- Takes away what operators said; jobs and their definitions stay.
drop view if exists windlass_jobs;
alter table windlass_live drop column /*M! if exists */ fingerprint;
alter table windlass_later drop column /*M! if exists */ fingerprint;
alter table windlass_ended drop column /*M! if exists */ fingerprint;
create or replace view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
drop table if exists windlass_starts, windlass_queues;
delete from windlass_limits where max_running is null;
delete from windlass_holds where name like 'key:%' or name like 'queue:%';
alter table windlass_limits
    drop column /*M! if exists */ max_per_key, drop column /*M! if exists */ rate_count, drop column /*M! if exists */ rate_seconds,
    drop column /*M! if exists */ key_rate_count, drop column /*M! if exists */ key_rate_seconds,
    modify column max_running integer not null;
alter table windlass_tenants drop column /*M! if exists */ timezone, drop column /*M! if exists */ max_open;
alter table windlass_definitions
    drop column /*M! if exists */ handler, drop column /*M! if exists */ limit_key, drop column /*M! if exists */ max_per_key,
    drop column /*M! if exists */ rate_count, drop column /*M! if exists */ rate_seconds,
    drop column /*M! if exists */ key_rate_count, drop column /*M! if exists */ key_rate_seconds,
    drop column /*M! if exists */ runs_after, drop column /*M! if exists */ on_dead_letter,
    drop column /*M! if exists */ memory_limit_mb, drop column /*M! if exists */ version, drop column /*M! if exists */ metadata,
    drop column /*M! if exists */ origin, drop column /*M! if exists */ edited, drop column /*M! if exists */ code,
    drop column /*M! if exists */ missing_from_code;
update windlass_definitions set gate = if(max_concurrency is null and enabled = 1, '', `key`),
    gated_at = current_timestamp(6);
