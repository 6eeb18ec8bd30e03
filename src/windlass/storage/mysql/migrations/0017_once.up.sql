-- Whether an error was transient or permanent, and what handlers asked about with `ctx.once`. Safe while older code
-- runs: it writes neither. Each statement can be repeated.
alter table windlass_live add column /*M! if not exists */ error_class varchar(16) character set ascii collate ascii_bin;
alter table windlass_later add column /*M! if not exists */ error_class varchar(16) character set ascii collate ascii_bin;
alter table windlass_ended add column /*M! if not exists */ error_class varchar(16) character set ascii collate ascii_bin;
create or replace view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
alter table windlass_attempts add column /*M! if not exists */ error_class varchar(16) character set ascii collate ascii_bin;

create table if not exists windlass_done (
    tenant_id varchar(191) not null,
    `key` varchar(191) not null,
    -- It is done for as long as this job is kept.
    job_id char(36) character set ascii collate ascii_bin not null,
    at datetime(6) not null,
    primary key (tenant_id, `key`),
    index windlass_done_job (job_id)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
