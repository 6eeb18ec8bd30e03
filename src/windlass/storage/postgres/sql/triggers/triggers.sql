-- Tells all triggers of a tenant, or of all, by name.
select * from windlass_triggers where (cast(:tenant_id as text) is null or tenant_id = :tenant_id) order by tenant_id, name
