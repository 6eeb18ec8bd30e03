-- Returns the jobs that triggers made for their last due times, with the state of each; jobs that
-- are gone are left out.
select trigger_id, job_id, due_at, state from (
    select f.trigger_id, f.job_id, f.due_at, coalesce(l.state, w.state, e.state) as state
    from {ids} i {join} windlass_firings f on f.trigger_id = i.id
    left join windlass_live l on l.id = f.job_id
    left join windlass_later w on w.id = f.job_id
    left join windlass_ended e on e.id = f.job_id
) o
where state is not null
order by trigger_id, due_at, job_id
