-- Deletes log lines whose jobs are gone, of some jobs after a cursor. Returns where to go on.

-- let window_of
select distinct job_id as id from windlass_logs where job_id > :cursor order by job_id limit :most;

-- let orphans
select w.id from {window_of} w
where not exists (select 1 from windlass_live j where j.id = w.id)
    and not exists (select 1 from windlass_later j where j.id = w.id)
    and not exists (select 1 from windlass_ended j where j.id = w.id);

-- answer
select (select max(id) from {window_of} w) as last_id,
    (select count(*) from windlass_logs where job_id in (select id from {orphans} o)) as pruned;

delete from windlass_logs where job_id in (select id from {orphans} o)
