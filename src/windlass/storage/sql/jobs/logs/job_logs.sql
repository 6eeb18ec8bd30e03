-- A job's log lines in order, after a line already seen.
select * from windlass_logs where job_id = :id and sequence > {bigint :after} order by sequence
limit :most
