-- Notes that a user signed in, if it is still there.
-- answer
select id from windlass_users where id = :id for update;

update windlass_users
set last_login_at = {now}
where id = :id
