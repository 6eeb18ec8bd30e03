-- Returns where chains end, by tenant; with a tenant, of its chain only.
select tenant_id, sequence, hash, signature from windlass_audit_heads
where sequence > 0 and ({text :tenant_id} is null or tenant_id = :tenant_id)
order by tenant_id
