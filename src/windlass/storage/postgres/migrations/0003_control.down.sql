-- Takes away what operators said; jobs and their definitions stay.
drop view windlass_jobs;
alter table windlass_live drop fingerprint;
alter table windlass_later drop fingerprint;
alter table windlass_ended drop fingerprint;
create view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
drop table windlass_starts, windlass_queues;
delete from windlass_limits where max_running is null;
delete from windlass_holds where name like 'key:%' or name like 'queue:%';
alter table windlass_limits
    drop max_per_key, drop rate_count, drop rate_seconds, drop key_rate_count, drop key_rate_seconds,
    alter max_running set not null;
alter table windlass_tenants drop timezone, drop max_open;
alter table windlass_definitions
    drop handler, drop limit_key, drop max_per_key, drop rate_count, drop rate_seconds,
    drop key_rate_count, drop key_rate_seconds, drop runs_after, drop on_dead_letter,
    drop memory_limit_mb, drop version, drop metadata, drop origin, drop edited, drop code,
    drop missing_from_code;
update windlass_definitions set gate = case when max_concurrency is null and enabled then '' else key end,
    gated_at = statement_timestamp();
