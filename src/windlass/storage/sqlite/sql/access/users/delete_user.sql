-- Deletes a user; what the user created stays, without a creator. Each by itself: SQLite heeds
-- references only where every connection asks it to.
delete from windlass_members where user_id = :id;
delete from windlass_sessions where user_id = :id;
delete from windlass_links where user_id = :id;
update windlass_tokens set created_by = null where created_by = :id;
update windlass_operations set created_by = null where created_by = :id;

-- answer
delete from windlass_users where id = :id returning id
