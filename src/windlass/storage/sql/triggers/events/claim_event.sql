-- Claims an event for matching; returns it unless another process did before.
update windlass_events set matched_at = {now} where id = :id and matched_at is null
returning *
