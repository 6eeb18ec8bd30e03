-- How long jobs of the definitions named waited and ran in the slots asked for, by definition.
select h.definition as name, h.kind, h.upto_ms, {sum h.observed} as observed,
    case when h.upto_ms = 0 then max(h.seconds) else sum(h.seconds) end as seconds
from {spans} s {join} windlass_histograms h on h.span = s.span and h.slot = s.at
    and h.tenant_id = coalesce({text :tenant_id}, '')
where h.definition in (select name from {names} n)
group by h.definition, h.kind, h.upto_ms
