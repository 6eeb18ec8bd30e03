-- Sets how many chains are listed. The registry is locked.
update windlass_audit_registry set chains = :chains, signature = :signature where id = 1
