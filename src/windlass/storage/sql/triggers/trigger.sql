-- Returns one trigger.
select * from windlass_triggers
where id = :id and ({text :tenant_id} is null or tenant_id = :tenant_id)
