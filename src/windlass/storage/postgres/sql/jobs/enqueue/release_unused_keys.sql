-- Releases the keys of jobs that were not stored because another key of theirs was taken.
delete from windlass_keys where job_id = any(array(select id from {ids} i))
    and not exists (select 1 from windlass_jobs j where j.id = windlass_keys.job_id)
