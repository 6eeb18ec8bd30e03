-- Deletes log lines whose jobs are gone, of some jobs after a cursor. Returns where to go on. They
-- are found first and deleted then: a job that is moving between tables is in one of them for one
-- look.
select max(id) into @windlass_last from (
    select distinct job_id as id from windlass_logs force index (primary)
    where job_id > :cursor order by job_id limit :most
) w;

select coalesce(json_arrayagg(w.id), '[]') into @windlass_orphans from (
    select distinct job_id as id from windlass_logs force index (primary)
    where job_id > :cursor and job_id <= @windlass_last
) w
where not exists (select 1 from windlass_live j force index (primary) where j.id = w.id)
    and not exists (select 1 from windlass_later j force index (primary) where j.id = w.id)
    and not exists (select 1 from windlass_ended j force index (primary) where j.id = w.id);

delete l
from json_table(@windlass_orphans,
    '$[*]' columns (id char(36) character set ascii collate ascii_bin path '$')) n
straight_join windlass_logs l force index (primary) on l.job_id = n.id;

select @windlass_last as last_id, row_count() as pruned
