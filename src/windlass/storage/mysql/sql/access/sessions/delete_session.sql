-- Ends a session, of one user or of anybody.
-- answer
select id from windlass_sessions where id = :id and (:user_id is null or user_id = :user_id) for update;

delete from windlass_sessions
where id = :id and (:user_id is null or user_id = :user_id)
