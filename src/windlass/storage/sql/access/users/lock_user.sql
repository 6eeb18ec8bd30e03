-- Makes this transaction the only one that gives a user anything until it ends.
select id from windlass_users where id = :id {for update}
