-- Takes away the signatures of the audit chains and their list; the entries stay.
drop table if exists windlass_audit_registry;
drop table if exists windlass_audit_chains;
alter table windlass_audit_heads drop column /*M! if exists */ signature;
