-- Forgets a user; what it made stays, and names nobody.
-- answer
select id from windlass_users where id = :id for update;

delete from windlass_users where id = :id
