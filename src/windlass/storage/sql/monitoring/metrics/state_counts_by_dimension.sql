-- Jobs in each state by tenant, by queue and by definition, including changes not rolled up yet. Of
-- each kind the :most with the most open jobs are named; the rest is summed under no name.
with counted as (
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
        from windlass_counts
    union all
    select tenant_id, queue, definition, pending, queued, running, completed, canceled, dead_letter
        from windlass_deltas
),
places as (
    select 'tenant' as kind, tenant_id as name, pending, queued, running, completed, canceled,
    dead_letter from counted
    union all
    select 'queue', queue, pending, queued, running, completed, canceled, dead_letter from counted
    union all
    select 'definition', definition, pending, queued, running, completed, canceled, dead_letter
        from counted
),
summed as (
    select kind, name, sum(pending) as pending, sum(queued) as queued, sum(running) as running,
        sum(completed) as completed, sum(canceled) as canceled, sum(dead_letter) as dead_letter,
        row_number() over (partition by kind
            order by sum(pending + queued + running) desc, name) as place
    from places group by kind, name
)
select kind, case
    when place <= :most then name end as name, sum(pending) as pending, sum(queued) as queued,
    sum(running) as running,
    sum(completed) as completed, sum(canceled) as canceled, sum(dead_letter) as dead_letter
from summed group by kind, case when place <= :most then name end
