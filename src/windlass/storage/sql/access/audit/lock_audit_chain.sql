-- Locks an audit chain for this transaction and returns where it ends.
insert into windlass_audit_heads (tenant_id, sequence, hash) values (:tenant_id, 0, :genesis)
{on_conflict tenant_id} sequence = windlass_audit_heads.sequence;

select sequence, hash, signature from windlass_audit_heads {index primary}
where tenant_id = :tenant_id {for update}
