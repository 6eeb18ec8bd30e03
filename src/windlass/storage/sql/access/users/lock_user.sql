-- Locks a user for this transaction.
select id from windlass_users where id = :id {for update}
