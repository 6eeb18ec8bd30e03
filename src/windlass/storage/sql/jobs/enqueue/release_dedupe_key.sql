-- Releases the dedupe key of a running job, so that a newer job may take it; only of a job created
-- by :owner, if that is given.
update windlass_live set dedupe_key = null
where id = :id and tenant_id = :tenant_id and state = 'running' and definition = :definition
    and (:owner is null or created_by = :owner);

delete from windlass_keys
where job_id = :id and tenant_id = :tenant_id and kind = 'dedupe'
    and exists (
        select 1 from windlass_live
        where id = :id and state = 'running' and definition = :definition
            and (:owner is null or created_by = :owner)
    )
