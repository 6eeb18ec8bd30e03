-- Returns the newest events, without what they say.
select id, tenant_id, name, created_at, matched_at, jobs from windlass_events order by id desc
limit :most
