-- How long jobs waited and ran in the slots asked for, by slot.
select h.slot as at, h.kind, h.upto_ms, {sum h.observed} as observed,
    case when h.upto_ms = 0 then max(h.seconds) else sum(h.seconds) end as seconds
from {spans} s {join} windlass_histograms h on h.span = s.span and h.slot = s.at
    and h.tenant_id = coalesce({text :tenant_id}, '')
where ({text :definition} is null or h.definition = :definition)
    and ({text :queue} is null or h.queue = :queue)
group by h.slot, h.kind, h.upto_ms
