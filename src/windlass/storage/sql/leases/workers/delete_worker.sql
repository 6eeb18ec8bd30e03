-- Removes the row of a worker that has stopped.
delete from windlass_workers where id = :id
