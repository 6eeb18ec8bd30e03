-- Tells one trigger, which nobody else fires or changes until this transaction ends.
select * from windlass_triggers {index primary} where id = :id {for update}
