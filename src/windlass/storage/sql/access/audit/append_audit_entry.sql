-- Adds an entry to the end of a chain that is locked.
insert into windlass_audit (tenant_id, sequence, at, actor, actor_kind, actor_name, action,
    target_kind, target_id, outcome,
    value_before, value_after, request_id, previous_hash, hash)
values (:tenant_id, :sequence, :at, :actor, :actor_kind, :actor_name, :action, :target_kind,
    :target_id, :outcome,
    :value_before, :value_after, :request_id, :previous_hash, :hash);

update windlass_audit_heads set sequence = :sequence, hash = :hash, signature = :signature
where tenant_id = :tenant_id
