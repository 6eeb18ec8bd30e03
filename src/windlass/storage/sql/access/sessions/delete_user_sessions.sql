-- Ends all sessions of a user but one.
delete from windlass_sessions where user_id = :user_id and ({uuid :but} is null or id <> :but)
