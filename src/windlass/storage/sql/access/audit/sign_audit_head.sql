-- Signs where a chain ends. The chain is locked.
update windlass_audit_heads set signature = :signature where tenant_id = :tenant_id
