-- Returns where a chain is said to end, its last entry, and its place in the list of chains, at one
-- instant.
select h.sequence, h.hash, h.signature, l.number, l.signature as listed,
    (select max(a.sequence) from windlass_audit a where a.tenant_id = :tenant_id) as last
from (select 1 as one) c
    left join windlass_audit_heads h on h.tenant_id = :tenant_id
    left join windlass_audit_chains l on l.tenant_id = :tenant_id
