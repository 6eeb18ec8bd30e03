-- Tells which of these jobs are stored, wherever they rest.
select id from {ids} i where exists (select 1 from windlass_jobs j where j.id = i.id)
