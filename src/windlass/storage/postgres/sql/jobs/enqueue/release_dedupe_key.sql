-- Has a running job of a definition let go of its dedupe key, so that a newer job may have it; only
-- one made by :owner, if that is given.
with running as (
    update windlass_live set dedupe_key = null
    where id = :id and tenant_id = :tenant_id and state = 'running' and definition = :definition
        and (cast(:owner as text) is null or created_by = :owner)
    returning id
)
delete from windlass_keys k using running r
where k.job_id = r.id and k.tenant_id = :tenant_id and k.kind = 'dedupe'
