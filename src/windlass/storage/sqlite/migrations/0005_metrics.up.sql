-- What metrics tell without scanning: sums that only rise, and how long jobs waited and ran.

-- How many failed attempts were followed by another.
alter table windlass_deltas add column retried integer not null default 0;

-- Everything that ever happened, folded like the counts; unlike them and the minutes it is never
-- lowered, so that a counter made of it never goes backwards.
create table windlass_totals (
    queue text not null,
    definition text not null,
    enqueued integer not null default 0,
    started integer not null default 0,
    succeeded integer not null default 0,
    failed integer not null default 0,
    retried integer not null default 0,
    canceled integer not null default 0,
    dead_letter integer not null default 0,
    primary key (queue, definition)
) strict;
insert into windlass_totals (queue, definition, enqueued, started, succeeded, failed, canceled, dead_letter)
select queue, definition, sum(enqueued), sum(started), sum(succeeded), sum(failed), sum(canceled), sum(dead_letter)
from windlass_minutes group by queue, definition;

-- How many waits and runs took at most so long and longer than the bound before; 2147483647 stands
-- for no bound. Kept by the minute, and since ever in the minute that began 1970.
create table windlass_histograms (
    minute integer not null,
    kind text not null check (kind in ('wait', 'run')),
    queue text not null,
    definition text not null,
    upto_ms integer not null,
    observed integer not null default 0,
    seconds real not null default 0,
    primary key (minute, kind, queue, definition, upto_ms)
) strict;
