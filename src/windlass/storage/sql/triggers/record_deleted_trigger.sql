-- Records that a trigger declared in code was deleted, so that no sync makes it again.
insert into windlass_deleted_triggers (tenant_id, name, definition, deleted_at)
values (:tenant_id, :name, :definition, {now})
{on_conflict tenant_id, name} definition = {new definition}, deleted_at = {new deleted_at}
