-- Deletes some ended jobs of a tenant with everything that hangs on them. Returns how many rows of
-- each kind.
delete from temp.picked;

insert into temp.picked (row, id)
select rowid, id from windlass_ended where tenant_id = :tenant_id limit :most;

-- answer
select 'jobs' as name, count(*) as number from temp.picked
union all select 'attempts', count(*) from windlass_attempts
    where job_id in (select id from temp.picked)
union all select 'transitions', count(*) from windlass_transitions
    where job_id in (select id from temp.picked)
union all select 'logs', count(*) from windlass_logs where job_id in (select id from temp.picked)
union all select 'keys', count(*) from windlass_keys where job_id in (select id from temp.picked)
union all select 'parents', count(*) from windlass_parents
    where child_id in (select id from temp.picked) or parent_id in (select id from temp.picked);

delete from windlass_attempts where job_id in (select id from temp.picked);
delete from windlass_transitions where job_id in (select id from temp.picked);
delete from windlass_logs where job_id in (select id from temp.picked);
delete from windlass_keys where job_id in (select id from temp.picked);
delete from windlass_done where job_id in (select id from temp.picked);
delete from windlass_parents
where child_id in (select id from temp.picked) or parent_id in (select id from temp.picked);
delete from windlass_ended where rowid in (select row from temp.picked);
delete from temp.picked
