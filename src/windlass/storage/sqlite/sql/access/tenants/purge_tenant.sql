-- Deletes some of what a tenant has besides jobs, no more than so many rows of each kind; its audit
-- stays. Returns how many rows of each kind.
-- answer
select 'keys' as name, count(*) as number
from (select 1 from windlass_keys where tenant_id = :tenant_id limit :most) x
union all select 'done' as name, count(*) as number
    from (select 1 from windlass_done where tenant_id = :tenant_id limit :most) x
union all select 'logs', count(*)
    from (select 1 from windlass_logs where tenant_id = :tenant_id limit :most) x
union all select 'triggers', count(*)
    from (select 1 from windlass_triggers where tenant_id = :tenant_id limit :most) x
union all select 'events', count(*)
    from (select 1 from windlass_events where tenant_id = :tenant_id limit :most) x
union all select 'deleted_triggers', count(*)
    from (select 1 from windlass_deleted_triggers where tenant_id = :tenant_id limit :most) x
union all select 'members', count(*)
    from (select 1 from windlass_members where tenant_id = :tenant_id limit :most) x
union all select 'invitations', count(*)
    from (select 1 from windlass_invitations where tenant_id = :tenant_id limit :most) x
union all select 'tokens', count(*)
    from (select 1 from windlass_tokens where tenant_id = :tenant_id limit :most) x
union all select 'answers', count(*)
    from (select 1 from windlass_answers where tenant_id = :tenant_id limit :most) x
union all select 'mutes', count(*)
    from (select 1 from windlass_mutes where tenant_id = :tenant_id limit :most) x
union all select 'deltas', count(*)
    from (select 1 from windlass_deltas where tenant_id = :tenant_id limit :most) x
union all select 'counts', count(*)
    from (select 1 from windlass_counts where tenant_id = :tenant_id limit :most) x
union all select 'minutes', count(*)
    from (select 1 from windlass_minutes where tenant_id = :tenant_id limit :most) x
union all select 'rollups', count(*)
    from (select 1 from windlass_rollups where tenant_id = :tenant_id limit :most) x
union all select 'histograms', count(*)
    from (select 1 from windlass_histograms where tenant_id = :tenant_id limit :most) x
union all select 'operation_items', count(*)
    from (select 1 from windlass_operation_items
    where operation_id in (select id from windlass_operations where tenant_id = :tenant_id)
    limit :most) x
union all select 'operations', count(*)
    from (select 1 from windlass_operations
    where tenant_id = :tenant_id
    and not exists (select 1 from windlass_operation_items i
    where i.operation_id = windlass_operations.id) limit :most) x;

delete from windlass_keys
where (tenant_id, kind, key) in (select tenant_id, kind, key from windlass_keys
    where tenant_id = :tenant_id limit :most);
delete from windlass_done
where (tenant_id, key) in (select tenant_id, key from windlass_done where tenant_id = :tenant_id
    limit :most);

delete from windlass_logs
where rowid in (select rowid from windlass_logs where tenant_id = :tenant_id limit :most);

delete from windlass_triggers
where rowid in (select rowid from windlass_triggers where tenant_id = :tenant_id limit :most);

delete from windlass_events
where rowid in (select rowid from windlass_events where tenant_id = :tenant_id limit :most);

delete from windlass_deleted_triggers
where rowid in (select rowid from windlass_deleted_triggers where tenant_id = :tenant_id
    limit :most);

delete from windlass_members
where rowid in (select rowid from windlass_members where tenant_id = :tenant_id limit :most);

delete from windlass_invitations
where rowid in (select rowid from windlass_invitations where tenant_id = :tenant_id limit :most);

delete from windlass_tokens
where rowid in (select rowid from windlass_tokens where tenant_id = :tenant_id limit :most);

delete from windlass_answers
where rowid in (select rowid from windlass_answers where tenant_id = :tenant_id limit :most);

delete from windlass_mutes
where (definition, fingerprint, tenant_id) in (select definition, fingerprint, tenant_id
    from windlass_mutes where tenant_id = :tenant_id limit :most);

delete from windlass_deltas
where rowid in (select rowid from windlass_deltas where tenant_id = :tenant_id limit :most);

delete from windlass_counts
where rowid in (select rowid from windlass_counts where tenant_id = :tenant_id limit :most);

delete from windlass_minutes
where rowid in (select rowid from windlass_minutes where tenant_id = :tenant_id limit :most);

delete from windlass_rollups
where (span, slot, tenant_id, queue, definition) in (select span, slot, tenant_id, queue, definition
    from windlass_rollups where tenant_id = :tenant_id limit :most);

delete from windlass_histograms
where (span, slot, tenant_id, kind, queue, definition, upto_ms) in (
    select span, slot, tenant_id, kind, queue, definition, upto_ms
    from windlass_histograms where tenant_id = :tenant_id limit :most);

delete from windlass_operations
where rowid in (select rowid from windlass_operations
    where tenant_id = :tenant_id
    and not exists (select 1 from windlass_operation_items i
    where i.operation_id = windlass_operations.id) limit :most);

delete from windlass_operation_items
where rowid in (select rowid from windlass_operation_items
    where operation_id in (select id from windlass_operations where tenant_id = :tenant_id)
    limit :most)
