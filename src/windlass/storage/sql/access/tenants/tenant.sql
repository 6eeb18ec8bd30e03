-- One tenant, deleted or not.
select * from windlass_tenants where id = :id
