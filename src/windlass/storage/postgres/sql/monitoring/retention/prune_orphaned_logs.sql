-- Deletes log lines whose jobs are gone, of some jobs after a cursor. Returns where to go on.
with window_of as (
    select distinct job_id as id from windlass_logs where job_id > cast(:cursor as uuid)
        order by job_id limit :most
),
found as (
    select id from windlass_live where id = any(array(select id from window_of))
    union all
    select id from windlass_later where id = any(array(select id from window_of))
    union all
    select id from windlass_ended where id = any(array(select id from window_of))
),
gone as (
    delete from windlass_logs
        where job_id = any(array(select id from window_of except select id from found))
    returning 1
)
select (select id from window_of order by id desc limit 1) as last_id,
    (select count(*) from gone) as pruned
