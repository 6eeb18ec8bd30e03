-- Says of a user whether it administers everything, and whether it may sign in.
-- answer
select id from windlass_users where id = :id for update;

update windlass_users
set superadmin = coalesce(:superadmin, superadmin), disabled = coalesce(:disabled, disabled)
where id = :id
