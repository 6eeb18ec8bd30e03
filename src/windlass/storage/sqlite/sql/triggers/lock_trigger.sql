-- Tells one trigger, which nobody else fires or changes until this transaction ends.
-- Nothing needs a lock: a transaction that may write is alone.
select * from windlass_triggers where id = :id
