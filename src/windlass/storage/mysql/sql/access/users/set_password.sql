-- Gives a user a password.
-- answer
select id from windlass_users where id = :id for update;

update windlass_users
set password_hash = :password_hash
where id = :id
