-- Lets one process match an event, once; answers it if nobody else did.
-- answer
select * from windlass_events force index (primary) where id = :id and matched_at is null for update;

update windlass_events set matched_at = {now} where id = :id and matched_at is null
