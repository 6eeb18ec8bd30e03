-- Notes the jobs of one batch of triggers, and what each trigger so far did. With a last trigger
-- there are more: the event waits again.
update windlass_events
set
    jobs = jobs + :made,
    matches = {json :matches},
    matched_trigger_id = :last,
    matched_at = case when {uuid :last} is null then matched_at end
where id = :id
