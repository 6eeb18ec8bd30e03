-- The tries at a job that its own row no longer tells.
select * from windlass_attempts where job_id = :id order by number
