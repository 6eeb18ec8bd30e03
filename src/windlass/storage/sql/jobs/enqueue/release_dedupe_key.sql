-- Has a running job of a definition let go of its dedupe key, so that a newer job may have it; only
-- one made by :owner, if that is given.
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
