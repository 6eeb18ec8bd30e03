-- Records that a user signed in, if it exists.
update windlass_users
set last_login_at = {now}
where id = :id
returning id
