-- Forgets a user; what it made stays, and names nobody.
delete from windlass_users where id = :id returning id
