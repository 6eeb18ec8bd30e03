-- Returns nothing: this database does not count dead rows.
select null as name, null as live, null as dead, null as seconds from windlass_tenants where 1 = 0
