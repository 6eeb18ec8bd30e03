-- Deletes a user; what the user created stays, without a creator.
delete from windlass_users where id = :id returning id
