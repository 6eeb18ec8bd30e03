-- Notes on a trigger why it could not make a job.
update windlass_triggers set last_error = :error, last_error_at = {now} where id = :id
