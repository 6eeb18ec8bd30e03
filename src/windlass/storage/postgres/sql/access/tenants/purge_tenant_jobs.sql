-- Deletes some ended jobs of a tenant with everything that hangs on them. Returns how many rows of
-- each kind.
with gone as (
    delete from windlass_ended
    where id = any(array(select id from windlass_ended where tenant_id = :tenant_id limit :most))
        returning id
),
attempts as (delete from windlass_attempts where job_id = any(array(select id from gone))
    returning 1),
transitions as (delete from windlass_transitions where job_id = any(array(select id from gone))
    returning 1),
logs as (delete from windlass_logs where job_id = any(array(select id from gone)) returning 1),
keys as (delete from windlass_keys where job_id = any(array(select id from gone)) returning 1),
done as (delete from windlass_done where job_id = any(array(select id from gone))),
parents as (delete from windlass_parents
    where child_id = any(array(select id from gone)) or parent_id = any(array(select id from gone))
    returning 1)
select 'jobs' as name, (select count(*) from gone) as number
union all select 'attempts', (select count(*) from attempts)
union all select 'transitions', (select count(*) from transitions)
union all select 'logs', (select count(*) from logs)
union all select 'keys', (select count(*) from keys)
union all select 'parents', (select count(*) from parents)
