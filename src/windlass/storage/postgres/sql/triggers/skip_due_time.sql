-- Moves a trigger on from a due time without a job, once, and notes why; disables it if it is to stop.
update windlass_triggers
set next_run_at = cast(:next_run_at as timestamptz), last_run_at = next_run_at, last_error = :error,
    -- Not later than what was seen: its next due time must not look like one that has failed.
    last_error_at = least({now}, cast(:seen_at as timestamptz)),
    enabled = case when cast(:stop as boolean) then false else enabled end
where id = :id and enabled and next_run_at = cast(:due_at as timestamptz)
returning id
