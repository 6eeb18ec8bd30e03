-- Returns which of these jobs a caller may know of: those of one tenant or of all, of one creator
-- or of all.
select j.id from {ids} i {join} windlass_live j {index primary} on j.id = i.id
where (:tenant_id is null or j.tenant_id = :tenant_id)
    and (:created_by is null or j.created_by = :created_by)
union
select j.id from {ids} i {join} windlass_later j {index primary} on j.id = i.id
where (:tenant_id is null or j.tenant_id = :tenant_id)
    and (:created_by is null or j.created_by = :created_by)
union
select j.id from {ids} i {join} windlass_ended j {index primary} on j.id = i.id
where (:tenant_id is null or j.tenant_id = :tenant_id)
    and (:created_by is null or j.created_by = :created_by)
