-- Finds events whose jobs are not made yet.
select id from windlass_events where matched_at is null order by id limit :most
