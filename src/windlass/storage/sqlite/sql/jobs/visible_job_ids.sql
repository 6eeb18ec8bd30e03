-- Tells which of these jobs a caller may know of: those of one tenant or of all, of one creator or of all.
select id from {ids} i where exists (
    select 1 from windlass_jobs j where j.id = i.id
    and (:tenant_id is null or j.tenant_id = :tenant_id)
    and (:created_by is null or j.created_by = :created_by))
