-- Says of a user whether it administers everything, and whether it may sign in.
update windlass_users
set superadmin = coalesce(:superadmin, superadmin), disabled = coalesce(:disabled, disabled)
where id = :id
returning id
