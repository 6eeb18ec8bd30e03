-- Empties the list of chains, to be written anew in the same transaction.
delete from windlass_audit_chains
