-- How long jobs of the tenants named waited and ran in the slots asked for, by tenant.
select h.tenant_id as name, h.kind, h.upto_ms, {sum h.observed} as observed,
    case when h.upto_ms = 0 then max(h.seconds) else sum(h.seconds) end as seconds
from {spans} s cross join {names} n
{join} windlass_histograms h on h.span = s.span and h.slot = s.at and h.tenant_id = n.name
group by h.tenant_id, h.kind, h.upto_ms
