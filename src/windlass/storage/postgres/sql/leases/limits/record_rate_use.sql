-- Counts attempts that begin under rates, and forgets those that count no more.
-- What begins in a part of a rate's time counts until the whole part is older than that time.
with old as (
    delete from windlass_starts
        where name = any(array(select name from {starts} s)) and until <= {now}
)
insert into windlass_starts as b (name, slot, started, until)
select name, slot, started, to_timestamp((slot + 1) * part) + seconds * interval '1 second'
from (
    select name, started, seconds, seconds / parts as part,
        cast(floor(extract(epoch from {now}) / (seconds / parts)) as bigint) as slot
    from {starts} s
) n
on conflict (name, slot) do update set started = b.started + excluded.started
