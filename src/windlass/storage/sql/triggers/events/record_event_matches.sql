-- Records the jobs that one batch of triggers made of an event, and each trigger's result. With a
-- last trigger there are more: the event waits for the next batch.
update windlass_events
set
    jobs = jobs + :made,
    matches = {json :matches},
    matched_trigger_id = :last,
    matched_at = case when {uuid :last} is null then matched_at end
where id = :id
