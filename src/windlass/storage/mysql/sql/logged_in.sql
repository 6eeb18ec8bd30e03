-- Notes that a user signed in.
update windlass_users set last_login_at = {now} where id = :id
