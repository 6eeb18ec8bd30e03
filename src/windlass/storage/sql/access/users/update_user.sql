-- Creates a user a superadmin or not, disabled or not; null leaves that as it is.
update windlass_users
set superadmin = coalesce({bool :superadmin}, superadmin),
    disabled = coalesce({bool :disabled}, disabled)
where id = :id
returning id
