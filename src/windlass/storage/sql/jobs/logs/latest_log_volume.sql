-- Log lines by slot and level; of very many the newest.
select slot, level, count(*) as number_of_lines from (
    select {slot created_at} as slot, level
    from windlass_logs
    where ({text :tenant_id} is null or tenant_id = :tenant_id)
        and ({text :definition} is null or definition = :definition)
        and ({text :level} is null
            or {instr}('debug info warn error', level) >= {instr}('debug info warn error', :level))
        and ({uuid :job_id} is null or job_id = :job_id)
        and ({time :since} is null or created_at >= :since)
        and ({time :until} is null or created_at < :until)
        -- One by one, because a hash of the jobs of one is made by reading all jobs.
        and ({text :created_by} is null or :created_by = coalesce(
            (select created_by from windlass_live where id = windlass_logs.job_id),
            (select created_by from windlass_later where id = windlass_logs.job_id),
            (select created_by from windlass_ended where id = windlass_logs.job_id)))
    order by created_at desc limit :most
) l
group by slot, level
