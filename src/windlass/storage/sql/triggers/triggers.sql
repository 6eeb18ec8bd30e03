-- Returns all triggers of a tenant, or of all, by name.
select * from windlass_triggers where ({text :tenant_id} is null or tenant_id = :tenant_id)
order by tenant_id, name
