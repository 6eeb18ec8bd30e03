-- All tenants, by id.
select * from windlass_tenants order by id
