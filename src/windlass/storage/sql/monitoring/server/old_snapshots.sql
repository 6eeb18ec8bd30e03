-- Returns nothing: this database does not show who keeps old rows.
select null as kind, null as name, null as seconds, null as transactions from windlass_tenants
where 1 = 0
