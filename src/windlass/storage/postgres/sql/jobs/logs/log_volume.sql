-- Log lines with these words by slot and level; of very many the newest.
select slot, level, count(*) as number_of_lines from (
    select {slot created_at} as slot, level
    from windlass_logs
    where to_tsvector('simple', message) @@ plainto_tsquery('simple', :words)
        and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
        and (cast(:definition as text) is null or definition = :definition)
        and (cast(:level as text) is null
            or strpos('debug info warn error', level) >= strpos('debug info warn error', :level))
        and (cast(:job_id as uuid) is null or job_id = :job_id)
        and (cast(:since as timestamptz) is null or created_at >= :since)
        and (cast(:until as timestamptz) is null or created_at < :until)
        -- One by one, because a hash of the jobs of one is made by reading all jobs.
        and (cast(:created_by as text) is null or :created_by = coalesce(
            (select created_by from windlass_live where id = windlass_logs.job_id),
            (select created_by from windlass_later where id = windlass_logs.job_id),
            (select created_by from windlass_ended where id = windlass_logs.job_id)))
    order by created_at desc limit :most
) l
group by slot, level
