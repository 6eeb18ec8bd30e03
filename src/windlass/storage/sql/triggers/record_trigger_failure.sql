-- Notes on a trigger why it could not make a job, and disables it if it is to stop.
update windlass_triggers
set last_error = :error, last_error_at = {now}, enabled = case when {bool :stop} then false
    else enabled end
where id = :id
