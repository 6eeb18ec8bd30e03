-- Whether an error was transient or permanent, and what handlers asked about with `ctx.once`. Safe while older code
-- runs: it writes neither.
drop view windlass_jobs;
alter table windlass_live add column error_class text;
alter table windlass_later add column error_class text;
alter table windlass_ended add column error_class text;
create view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
alter table windlass_attempts add column error_class text;

create table windlass_done (
    tenant_id text not null,
    key text not null,
    -- It is done for as long as this job is kept.
    job_id text not null,
    at integer not null,
    primary key (tenant_id, key)
) strict, without rowid;
create index windlass_done_job on windlass_done (job_id);
