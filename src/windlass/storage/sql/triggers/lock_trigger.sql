-- Locks a trigger for this transaction, so that no other fires or changes it, and returns it.
select * from windlass_triggers {index primary} where id = :id {for update}
