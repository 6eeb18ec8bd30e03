-- Tells where a chain is said to end, and its last entry, at one instant.
select h.sequence, h.hash, (select max(a.sequence) from windlass_audit a where a.tenant_id = :tenant_id) as last
from (select 1 as one) c left join windlass_audit_heads h on h.tenant_id = :tenant_id
