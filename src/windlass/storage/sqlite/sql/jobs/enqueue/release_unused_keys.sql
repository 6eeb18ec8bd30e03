-- Releases the keys of jobs that were not stored because another key of theirs was taken.
delete from windlass_keys where job_id in (
    select id from {ids} i where not exists (select 1 from windlass_jobs j where j.id = i.id))
