-- Dedupe keys of triggers, what became of events, deleted triggers of code, and alerts. Safe while older code
-- runs: it ignores them. Each statement can be repeated.

-- A template: jobs of the trigger with an equal key count as equal.
alter table windlass_triggers add column /*M! if not exists */ dedupe_key longtext;

-- What each trigger did with the event, as JSON; null before the event was matched.
alter table windlass_events add column /*M! if not exists */ matches longtext;

-- Triggers declared in code that an operator deleted: a sync does not make them again.
create table if not exists windlass_deleted_triggers (
    tenant_id varchar(191) not null,
    -- The name they have in code.
    name varchar(191) not null,
    definition varchar(191) not null,
    deleted_at datetime(6) not null,
    primary key (tenant_id, name)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Which causes of dead letters a receiver was told of, and when that was last tried.
create table if not exists windlass_alerts (
    receiver varchar(64) character set ascii collate ascii_bin not null,
    definition varchar(191) not null,
    fingerprint varchar(64) character set ascii collate ascii_bin not null,
    tried_at datetime(6) not null,
    -- When the newest job it was told of was dead-lettered; null before a first success.
    told_until datetime(6),
    primary key (receiver, definition, fingerprint),
    index windlass_alerts_tried (tried_at)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
