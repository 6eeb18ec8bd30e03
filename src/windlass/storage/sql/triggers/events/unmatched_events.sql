-- Finds events after one whose jobs are not made yet.
select id from windlass_events
where matched_at is null and ({uuid :after} is null or id > :after)
order by id limit :most
