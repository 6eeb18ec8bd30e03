-- Moves a trigger on from a due time without a job, once, and notes why; disables it if it is to
-- stop.
update windlass_triggers
set next_run_at = {time :next_run_at}, last_run_at = {time :due_at}, last_error = :error,
    -- Not later than what was seen: its next due time must not look like one that has failed.
    last_error_at = {least}({now}, {time :seen_at}),
    enabled = case when {bool :stop} then false else enabled end
where id = :id and {true enabled} and next_run_at = {time :due_at}
returning id
