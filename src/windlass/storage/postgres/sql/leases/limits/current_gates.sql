-- Returns the gate of the jobs of these tenants and definitions; no row for those that may not be
-- stored, nor of any if some of the jobs may have been stored before: ids are made in rising order,
-- so a look between the first and the last tells of nearly all batches that none was.
select g.tenant_id, g.definition, d.gate
from (select distinct tenant_id, definition from {groups} g) g
join windlass_definitions d on d.key = g.definition and d.enabled
join windlass_tenants t on t.id = g.tenant_id and t.state = 'active'
where not exists (select from windlass_later where id between :first and :last)
    and not exists (select from windlass_ended where id between :first and :last)
