-- Tells which of these jobs are stored, wherever they rest.
select id from windlass_jobs where id = any(array(select id from {ids} i))
