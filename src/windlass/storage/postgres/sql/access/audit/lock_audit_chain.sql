-- Makes this transaction the only one that adds to a chain, and tells where that ends.
insert into windlass_audit_heads as h (tenant_id, sequence, hash) values (:tenant_id, 0, :genesis)
on conflict (tenant_id) do update set sequence = h.sequence
returning sequence, hash, signature
