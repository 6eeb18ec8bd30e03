-- Deletes a definition that no job and no trigger refers to.
delete from windlass_definitions
where {name key} = :key
    and not exists (select 1 from windlass_triggers where definition = :key)
    and not exists (select 1 from windlass_live where definition = :key)
    and not exists (select 1 from windlass_later where definition = :key)
    and not exists (select 1 from windlass_ended where definition = :key)
returning {name key}
