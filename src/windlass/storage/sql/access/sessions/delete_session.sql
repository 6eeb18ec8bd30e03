-- Ends a session: of one user, or any.
delete from windlass_sessions
where id = :id and ({uuid :user_id} is null or user_id = :user_id)
returning id
