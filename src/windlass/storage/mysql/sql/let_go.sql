-- Has a running job let go of its dedupe key, so that a newer job may have it.
update windlass_live set dedupe_key = null
where id = :id and tenant_id = :tenant_id and state = 'running';

delete k from windlass_keys k
where k.job_id = :id and k.tenant_id = :tenant_id and k.kind = 'dedupe'
    and exists (select 1 from windlass_live where id = :id and state = 'running')
