-- Returns a chain's place in the list; no row if it is not listed.
select number, signature from windlass_audit_chains where tenant_id = :tenant_id
