-- Adds to the counts of a bulk operation that is held.
update windlass_operations
set done = done + :done, failed = failed + :failed, skipped = skipped + :skipped
where id = :id
