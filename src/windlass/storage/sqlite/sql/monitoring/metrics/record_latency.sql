-- Adds to the histograms, of this minute and since ever. The row with upto_ms 0 has the longest.
insert into windlass_histograms as h (minute, kind, queue, definition, upto_ms, observed, seconds)
select m.minute, o.kind, o.queue, o.definition, o.upto_ms, o.observed, o.seconds
from {observations} o cross join (select {now} - {now} % 60000000 as minute union all select 0) m
where true
on conflict (minute, kind, queue, definition, upto_ms) do update set
    observed = h.observed + excluded.observed,
    seconds = case
        when h.upto_ms = 0 then max(h.seconds, excluded.seconds)
        else h.seconds + excluded.seconds
    end
