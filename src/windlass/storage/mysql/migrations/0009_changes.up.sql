-- Waiting jobs that are changed in bulk, and causes of failure that people do not want to hear of. Each
-- statement can be repeated.

-- An action has one more kind, and what it changes, as JSON; nothing else has any.
alter table windlass_operations drop constraint /*M! if exists */ windlass_operations_action;
alter table windlass_operations
    add constraint windlass_operations_action check (action in ('cancel', 'retry', 'run_now', 'discard', 'update')),
    add column /*M! if not exists */ changes longtext;

-- Dead-lettered jobs of one cause that are not shown, and do not alarm anybody, until then.
create table if not exists windlass_mutes (
    definition varchar(191) not null,
    -- The empty one is the cause that nobody knows.
    fingerprint varchar(64) character set ascii collate ascii_bin not null,
    -- The empty one means all tenants.
    tenant_id varchar(191) not null,
    muted_at datetime(6) not null,
    muted_by longtext,
    muted_until datetime(6),
    reason longtext,
    primary key (definition, fingerprint, tenant_id)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
