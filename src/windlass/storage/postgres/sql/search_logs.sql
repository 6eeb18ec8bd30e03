-- Log lines with these words, newest first.
select * from windlass_logs
where to_tsvector('simple', message) @@ plainto_tsquery('simple', :words)
    and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
    and (cast(:definition as text) is null or definition = :definition)
    and (cast(:level as text) is null or level = :level)
    and (cast(:job_id as uuid) is null or job_id = :job_id)
    and (cast(:since as timestamptz) is null or created_at >= :since)
    and (cast(:until as timestamptz) is null or created_at < :until)
order by created_at desc limit :most
