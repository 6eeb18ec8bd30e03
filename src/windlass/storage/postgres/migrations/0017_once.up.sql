-- Whether an error was transient or permanent, and what handlers asked about with `ctx.once`. Safe while older code
-- runs: it writes neither.
alter table windlass_live add error_class text;
alter table windlass_later add error_class text;
alter table windlass_ended add error_class text;
create or replace view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
alter table windlass_attempts add error_class text;

create table windlass_done (
    tenant_id text not null,
    key text not null,
    -- It is done for as long as this job is kept.
    job_id uuid not null,
    at timestamptz not null,
    primary key (tenant_id, key)
);
create index windlass_done_job on windlass_done (job_id);
