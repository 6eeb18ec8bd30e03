-- Returns a user by id.
select id, name, superadmin, disabled, password_hash is not null as has_password, created_at,
    last_login_at
from windlass_users where id = :id
