-- Log lines, newest first: by their time, whatever they say.
select job_id, sequence, attempt, tenant_id, definition, level, message, fields, created_at
from windlass_logs
where ({text :tenant_id} is null or tenant_id = :tenant_id)
    and ({text :definition} is null or definition = :definition)
    and ({text :level} is null
        or {instr}('debug info warn error', level) >= {instr}('debug info warn error', :level))
    and ({uuid :job_id} is null or job_id = :job_id)
    and ({time :since} is null or created_at >= :since)
    and ({time :until} is null or created_at < :until)
    and ({time :before_at} is null
        or (created_at, job_id, sequence) < (:before_at, {uuid :before_job},
            {int :before_sequence}))
    -- One by one, because a hash of the jobs of one is made by reading all jobs.
    and ({text :created_by} is null or :created_by = coalesce(
        (select created_by from windlass_live where id = windlass_logs.job_id),
        (select created_by from windlass_later where id = windlass_logs.job_id),
        (select created_by from windlass_ended where id = windlass_logs.job_id)))
order by created_at desc, job_id desc, sequence desc limit :most
