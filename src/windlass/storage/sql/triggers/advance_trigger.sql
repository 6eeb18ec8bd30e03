-- Moves a trigger on from a due time to its next, once; returns it unless another process did
-- before.
update windlass_triggers
set next_run_at = {time :next_run_at}, last_run_at = {time :due_at},
    last_job_id = coalesce({uuid :job_id}, last_job_id), last_error = null
where id = :id and {true enabled} and next_run_at = {time :due_at}
returning id
