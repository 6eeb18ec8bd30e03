-- Records why a trigger could not make a job; disables it if asked to.
update windlass_triggers
set last_error = :error, last_error_at = {now}, enabled = case when {bool :stop} then false
    else enabled end
where id = :id
