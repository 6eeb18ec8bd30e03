-- How many jobs of a tenant have not ended.
select (select count(*) from windlass_live where tenant_id = :tenant_id)
    + (select count(*) from windlass_later where tenant_id = :tenant_id) as number
