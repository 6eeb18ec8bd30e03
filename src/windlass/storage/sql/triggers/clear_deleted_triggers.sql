-- Lets deleted triggers of a definition, or the one of that name, be made again by a sync.
delete from windlass_deleted_triggers
where definition = :definition and ({text :name} is null or name = :name)
