-- Locks the list of audit chains for this transaction and returns its length.
insert into windlass_audit_registry (id, chains) values (1, 0)
{on_conflict id} chains = windlass_audit_registry.chains;

select chains, signature from windlass_audit_registry {index primary} where id = 1 {for update}
