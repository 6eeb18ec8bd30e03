-- Takes away the signatures of the audit chains and their list; the entries stay.
drop table windlass_audit_registry;
drop table windlass_audit_chains;
alter table windlass_audit_heads drop signature;
