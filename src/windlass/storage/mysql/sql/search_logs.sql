-- Log lines with these words, newest first.
select job_id, sequence, attempt, tenant_id, definition, level, message, fields, created_at
from windlass_logs
where match (words) against (
        concat('+ww', regexp_replace(regexp_replace(lower(:words), '^[^\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+$', ''),
            '[^\\p{L}\\p{N}]+', ' +ww')) in boolean mode)
    and (:tenant_id is null or tenant_id = :tenant_id)
    and (:definition is null or definition = :definition)
    and (:level is null or level = :level)
    and (:job_id is null or job_id = :job_id)
    and (:since is null or created_at >= :since)
    and (:until is null or created_at < :until)
order by created_at desc limit :most
