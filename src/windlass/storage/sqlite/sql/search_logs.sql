-- Log lines with these words, newest first.
select * from windlass_logs
where number in (
        select rowid from windlass_log_words
        where windlass_log_words match '"' || replace(replace(:words, '"', ' '), ' ', '" "') || '"')
    and (:tenant_id is null or tenant_id = :tenant_id)
    and (:definition is null or definition = :definition)
    and (:level is null or level = :level)
    and (:job_id is null or job_id = :job_id)
    and (:since is null or created_at >= :since)
    and (:until is null or created_at < :until)
order by created_at desc limit :most
