-- Gives a user a password.
update windlass_users
set password_hash = :password_hash
where id = :id
returning id
