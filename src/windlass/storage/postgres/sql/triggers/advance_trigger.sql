-- Moves a trigger on from a due time to its next, once; answers it if nobody else did.
update windlass_triggers
set next_run_at = cast(:next_run_at as timestamptz), last_run_at = next_run_at,
    last_job_id = coalesce(cast(:job_id as uuid), last_job_id), last_error = null
where id = :id and enabled and next_run_at = cast(:due_at as timestamptz)
returning id
