-- Returns which of these jobs a caller may know of: those of one tenant or of all, of one creator
-- or of all.
select j.id from windlass_jobs j
where j.id = any(array(select id from {ids} i))
    and (cast(:tenant_id as text) is null or j.tenant_id = :tenant_id)
    and (cast(:created_by as text) is null or j.created_by = :created_by)
