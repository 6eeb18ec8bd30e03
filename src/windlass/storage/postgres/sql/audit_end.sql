-- Tells where a chain is said to end, and its last entry, at one instant.
select h.sequence, h.hash, (select max(a.sequence) from windlass_audit a where a.tenant_id = :tenant_id) as last
from (select cast(:tenant_id as text) as tenant_id) c left join windlass_audit_heads h on h.tenant_id = c.tenant_id
