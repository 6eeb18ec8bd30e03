-- Returns the log lines of these jobs between two sequence numbers, in order.
select l.* from {log_ranges} r {join} windlass_logs l
    on l.job_id = r.id and l.sequence between r.first_line and r.last_line
order by l.job_id, l.sequence
