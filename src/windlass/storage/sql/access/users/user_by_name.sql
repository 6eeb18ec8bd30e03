-- Returns a user by name, with the hash of the password.
select id, name, superadmin, disabled, password_hash is not null as has_password, created_at,
    last_login_at, password_hash
from windlass_users where name = :name
