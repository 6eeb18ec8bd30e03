-- Returns the sessions of a user that last, newest first.
select * from windlass_sessions where user_id = :user_id and expires_at > {now} order by id desc
limit :most
