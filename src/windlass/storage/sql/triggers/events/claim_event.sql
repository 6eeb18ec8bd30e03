-- Lets one process match an event, once; answers it if nobody else did.
update windlass_events set matched_at = {now} where id = :id and matched_at is null
returning *
