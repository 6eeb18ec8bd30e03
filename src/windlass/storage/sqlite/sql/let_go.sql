-- Has a running job let go of its dedupe key, so that a newer job may have it.
delete from windlass_keys
where job_id = :id and tenant_id = :tenant_id and kind = 'dedupe'
    and exists (select 1 from windlass_live where id = :id and state = 'running');

update windlass_live set dedupe_key = null where id = :id and tenant_id = :tenant_id and state = 'running'
