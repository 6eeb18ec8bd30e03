-- Tells one trigger, which nobody else fires or changes until this transaction ends.
select * from windlass_triggers where id = :id for update
