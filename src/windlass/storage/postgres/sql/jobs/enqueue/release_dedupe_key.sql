-- Releases the dedupe key of a running job, so that a newer job may take it; only of a job created
-- by :owner, if that is given.
with running as (
    update windlass_live set dedupe_key = null
    where id = :id and tenant_id = :tenant_id and state = 'running' and definition = :definition
        and (cast(:owner as text) is null or created_by = :owner)
    returning id
)
delete from windlass_keys k using running r
where k.job_id = r.id and k.tenant_id = :tenant_id and k.kind = 'dedupe'
