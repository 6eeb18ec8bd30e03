-- Sets a user's password.
update windlass_users
set password_hash = :password_hash
where id = :id
returning id
