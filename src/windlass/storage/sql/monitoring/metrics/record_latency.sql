-- Adds to the histograms of this minute, and of all tenants since ever. The row with upto_ms 0 has
-- the longest.
insert into windlass_histograms (span, slot, tenant_id, kind, queue, definition, upto_ms, observed,
    seconds)
select m.span, m.slot, o.tenant_id, o.kind, o.queue, o.definition, o.upto_ms, o.observed, o.seconds
from {observations} o
cross join (select 60 as span, {minute {now}} as slot union all select 0, {epoch}) m
where m.span = 60 or o.tenant_id = ''
order by 1, 2, 3, 4, 5, 6, 7
{on_conflict span, slot, tenant_id, kind, queue, definition, upto_ms}
    observed = windlass_histograms.observed + {new observed},
    seconds = case
        when windlass_histograms.upto_ms = 0
            then {greatest}(windlass_histograms.seconds, {new seconds})
        else windlass_histograms.seconds + {new seconds}
    end
