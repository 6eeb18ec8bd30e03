-- Tells the gate that jobs of these tenants and definitions queue behind; nothing of those refused.
select g.tenant_id, g.definition, d.gate
from (select distinct tenant_id, definition from {groups} g) g
join windlass_definitions d on d.key = g.definition and d.enabled
join windlass_tenants t on t.id = g.tenant_id and t.state = 'active'
