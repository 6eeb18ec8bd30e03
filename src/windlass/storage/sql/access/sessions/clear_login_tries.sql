-- Forgets logins that were tried.
delete from windlass_login_tries where {name key} = :key
