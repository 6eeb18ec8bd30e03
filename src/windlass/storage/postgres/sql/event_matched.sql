-- Notes the jobs of one batch of triggers. With a last trigger there are more: the event waits again.
update windlass_events
set
    jobs = jobs + :made,
    matched_trigger_id = :last,
    matched_at = case when cast(:last as uuid) is null then matched_at end
where id = :id
