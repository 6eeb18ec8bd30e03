-- Says of a user whether it administers everything, and whether it may sign in.
update windlass_users
set superadmin = coalesce(cast(:superadmin as boolean), superadmin), disabled = coalesce(cast(:disabled as boolean), disabled)
where id = :id
returning id
