-- Counts attempts that begin under rates, and forgets those that count no more.
-- What begins in a part of a rate's time counts until the whole part is older than that time.
delete b from {starts} s straight_join windlass_starts b force index (primary) on b.name = s.name
where b.until <= {now};

insert into windlass_starts (name, slot, started, until)
select name, slot, started,
    timestampadd(microsecond, round(((slot + 1) * part + seconds) * 1000000), '1970-01-01')
from (
    select name, started, seconds, seconds / parts as part,
        floor(timestampdiff(microsecond, '1970-01-01', {now}) / 1000000 / (seconds / parts)) as slot
    from {starts} s
) n
on duplicate key update windlass_starts.started = windlass_starts.started + values(started)
