-- Counts attempts that begin under rates, and forgets those that count no more.
-- What begins in a part of a rate's time counts until the whole part is older than that time.
delete from windlass_starts where name in (select name from {starts} s) and until <= {now};

insert into windlass_starts as b (name, slot, started, until)
select name, slot, started, cast((slot + 1) * part + seconds * 1000000 as integer)
from (
    select name, started, seconds, seconds * 1000000 / parts as part,
        cast({now} / (seconds * 1000000 / parts) as integer) as slot
    from {starts} s
) n where true
on conflict (name, slot) do update set started = b.started + excluded.started
