-- Adds to the histograms, of this minute and since ever. The row with upto_ms 0 has the longest.
insert into windlass_histograms (minute, kind, queue, definition, upto_ms, observed, seconds)
select m.at_minute, o.kind, o.queue, o.definition, o.upto_ms, o.observed, o.seconds
from {observations} o
cross join (select {minute {now}} as at_minute union all select {epoch}) m
where true
order by 1, 2, 3, 4, 5
{on_conflict minute, kind, queue, definition, upto_ms}
    observed = windlass_histograms.observed + {new observed},
    seconds = case
        when windlass_histograms.upto_ms = 0
            then {greatest}(windlass_histograms.seconds, {new seconds})
        else windlass_histograms.seconds + {new seconds}
    end
