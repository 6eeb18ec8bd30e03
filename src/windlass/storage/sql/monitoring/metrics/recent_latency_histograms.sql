-- How long jobs waited and ran in the minutes that began at most :seconds ago.
select kind, queue, definition, upto_ms, sum(observed) as observed,
    case when upto_ms = 0 then max(seconds) else sum(seconds) end as seconds
from windlass_histograms where minute > {epoch} and minute > {now} - {seconds :seconds}
group by kind, queue, definition, upto_ms
