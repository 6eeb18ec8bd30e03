-- Moves a trigger on from a due time to its next, once; answers it if nobody else did.
update windlass_triggers
set next_run_at = :next_run_at, last_run_at = next_run_at,
    last_job_id = coalesce(:job_id, last_job_id), last_error = null
where id = :id and enabled = 1 and next_run_at = :due_at
returning id
