-- Returns which chains there are, and which should be there.
select tenant_id from windlass_audit_heads
union
select distinct tenant_id from windlass_audit
union
select tenant_id from windlass_audit_chains
order by tenant_id
