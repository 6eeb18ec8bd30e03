-- Makes the histograms of one slot of the shorter slots in it. May be repeated.
insert into windlass_histograms (span, slot, tenant_id, kind, queue, definition, upto_ms, observed,
    seconds)
select {int :span}, {time :slot}, tenant_id, kind, queue, definition, upto_ms, sum(observed),
    case when upto_ms = 0 then max(seconds) else sum(seconds) end
from (
    select tenant_id, kind, queue, definition, upto_ms, observed, seconds from windlass_histograms
    where span = {int :of_span} and slot >= {time :slot} and slot < {time :until}
) h
where true
group by tenant_id, kind, queue, definition, upto_ms
order by tenant_id, kind, queue, definition, upto_ms
{on_conflict span, slot, tenant_id, kind, queue, definition, upto_ms}
    observed = {new observed},
    seconds = {new seconds}
