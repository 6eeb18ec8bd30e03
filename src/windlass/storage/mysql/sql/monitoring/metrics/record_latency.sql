-- Adds to the histograms, of this minute and since ever. The row with upto_ms 0 has the longest.
insert into windlass_histograms (`minute`, kind, queue, definition, upto_ms, observed, seconds)
select m.at_minute, o.kind, o.queue, o.definition, o.upto_ms, o.observed, o.seconds
from {observations} o
cross join (
    select {now} - interval second({now}) * 1000000 + microsecond({now}) microsecond as at_minute
    union all select cast('1970-01-01' as datetime(6))
) m
order by 1, 2, 3, 4, 5
on duplicate key update
    observed = windlass_histograms.observed + values(observed),
    seconds = if(
        windlass_histograms.upto_ms = 0,
        greatest(windlass_histograms.seconds, values(seconds)),
        windlass_histograms.seconds + values(seconds)
    )
