-- Returns the triggers declared in code that were deleted.
select tenant_id, name, definition from windlass_deleted_triggers
