-- What metrics tell without scanning: sums that only rise, and how long jobs waited and ran. Each statement can be repeated.

-- How many failed attempts were followed by another.
alter table windlass_deltas add column /*M! if not exists */ retried integer not null default 0;

-- Everything that ever happened, folded like the counts; unlike them and the minutes it is never
-- lowered, so that a counter made of it never goes backwards.
create table if not exists windlass_totals (
    queue varchar(191) not null,
    definition varchar(191) not null,
    enqueued bigint not null default 0,
    started bigint not null default 0,
    succeeded bigint not null default 0,
    failed bigint not null default 0,
    retried bigint not null default 0,
    canceled bigint not null default 0,
    dead_letter bigint not null default 0,
    primary key (queue, definition)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
insert ignore into windlass_totals (queue, definition, enqueued, started, succeeded, failed, canceled, dead_letter)
select queue, definition, sum(enqueued), sum(started), sum(succeeded), sum(failed), sum(canceled), sum(dead_letter)
from windlass_minutes group by queue, definition;

-- How many waits and runs took at most so long and longer than the bound before; 2147483647 stands
-- for no bound. Kept by the minute, and since ever in the minute that began 1970.
create table if not exists windlass_histograms (
    `minute` datetime(6) not null,
    kind varchar(16) character set ascii collate ascii_bin not null,
    queue varchar(191) not null,
    definition varchar(191) not null,
    upto_ms integer not null,
    observed bigint not null default 0,
    seconds double not null default 0,
    primary key (`minute`, kind, queue, definition, upto_ms)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
