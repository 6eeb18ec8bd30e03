-- Lists a chain that is not listed.
insert into windlass_audit_chains (tenant_id, number, signature)
values (:tenant_id, :number, :signature)
