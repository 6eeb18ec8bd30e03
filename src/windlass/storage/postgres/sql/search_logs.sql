-- Log lines with these words, newest first.
select * from windlass_logs
where to_tsvector('simple', message) @@ plainto_tsquery('simple', :words)
    and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
    and (cast(:definition as text) is null or definition = :definition)
    and (cast(:level as text) is null or level = :level)
order by created_at desc limit :most
