-- The newest log lines with these words, among the newest `look` lines: the full-text index finds
-- all lines with a word before it finds the newest, and most lines may have it.

-- Apart, because the server walks on below a bound that it has not yet found.
select coalesce(
    case when :definition is null then (
        select created_at from windlass_logs force index (windlass_logs_created)
        where created_at < coalesce(:until, '9999-12-31')
            and created_at <= coalesce(:before_at, '9999-12-31')
        order by created_at desc limit 1 offset :look)
    else (
        select created_at from windlass_logs force index (windlass_logs_definition)
        where definition = :definition and created_at < coalesce(:until, '9999-12-31')
            and created_at <= coalesce(:before_at, '9999-12-31')
        order by created_at desc limit 1 offset :look)
    end, '1970-01-01') into @windlass_floor;

select job_id, sequence, attempt, tenant_id, definition, level, message, fields, created_at
from windlass_logs
where created_at >= @windlass_floor
    and (:tenant_id is null or tenant_id = :tenant_id)
    and (:definition is null or definition = :definition)
    and (:level is null
        or instr('debug info warn error', level) >= instr('debug info warn error', :level))
    and (:job_id is null or job_id = :job_id)
    and (:since is null or created_at >= :since)
    and (:until is null or created_at < :until)
    and (:before_at is null
        or (created_at, job_id, sequence) < (:before_at, :before_job, :before_sequence))
    and (:created_by is null or :created_by = coalesce(
        (select created_by from windlass_live where id = windlass_logs.job_id),
        (select created_by from windlass_later where id = windlass_logs.job_id),
        (select created_by from windlass_ended where id = windlass_logs.job_id)))
    and concat(' ', words, ' ') regexp concat('^(?=.* ww',
        regexp_replace(regexp_replace(lower(:words), '^[^\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+$', ''),
            '[^\\p{L}\\p{N}]+', ' )(?=.* ww'), ' )')
order by created_at desc, job_id desc, sequence desc limit :most
