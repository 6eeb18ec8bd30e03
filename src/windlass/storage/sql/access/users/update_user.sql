-- Says of a user whether it administers everything, and whether it may sign in.
update windlass_users
set superadmin = coalesce({bool :superadmin}, superadmin),
    disabled = coalesce({bool :disabled}, disabled)
where id = :id
returning id
