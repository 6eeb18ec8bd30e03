-- Log lines with these words by slot and level; of very many the newest.
select slot, level, count(*) as number_of_lines from (
    select {slot created_at} as slot, level
    from windlass_logs
    where match (words) against (
            concat('+ww',
                regexp_replace(
                    regexp_replace(lower(:words), '^[^\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+$', ''),
                '[^\\p{L}\\p{N}]+', ' +ww')) in boolean mode)
        and (:tenant_id is null or tenant_id = :tenant_id)
        and (:definition is null or definition = :definition)
        and (:level is null
            or instr('debug info warn error', level) >= instr('debug info warn error', :level))
        and (:job_id is null or job_id = :job_id)
        and (:since is null or created_at >= :since)
        and (:until is null or created_at < :until)
        and (:created_by is null or :created_by = coalesce(
            (select created_by from windlass_live where id = windlass_logs.job_id),
            (select created_by from windlass_later where id = windlass_logs.job_id),
            (select created_by from windlass_ended where id = windlass_logs.job_id)))
    order by created_at desc limit :most
) l
group by slot, level
