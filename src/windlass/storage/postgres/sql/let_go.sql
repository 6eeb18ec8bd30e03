-- Has a running job let go of its dedupe key, so that a newer job may have it.
with running as (
    update windlass_live set dedupe_key = null
    where id = :id and tenant_id = :tenant_id and state = 'running' returning id
)
delete from windlass_keys k using running r
where k.job_id = r.id and k.tenant_id = :tenant_id and k.kind = 'dedupe'
