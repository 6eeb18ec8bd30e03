-- Tells which chains there are.
select tenant_id from windlass_audit_heads
union
select distinct tenant_id from windlass_audit
order by tenant_id
