-- Resets the count of login attempts.
delete from windlass_login_tries where {name key} = :key
