-- Ends of audit chains are signed with a key that is not in the database, and signed chains are listed. Old code
-- goes on: it leaves the signature alone, so set a key only when no old process is left. Each statement can be
-- repeated.
alter table windlass_audit_heads
    add column /*M! if not exists */ signature varchar(191) character set ascii collate ascii_bin;

-- Every signed chain, numbered in the order in which they were started.
create table if not exists windlass_audit_chains (
    tenant_id varchar(191) not null primary key,
    number bigint not null,
    signature varchar(191) character set ascii collate ascii_bin not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- One row: how many chains are listed.
create table if not exists windlass_audit_registry (
    id integer not null primary key,
    chains bigint not null,
    signature varchar(191) character set ascii collate ascii_bin,
    constraint windlass_audit_registry_single check (id = 1)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
