-- Allows a sync to create deleted triggers of a definition again, or the one of that name.
delete from windlass_deleted_triggers
where definition = :definition and ({text :name} is null or name = :name)
