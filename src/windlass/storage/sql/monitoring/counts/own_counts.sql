-- Counts the jobs that one creator made, :look of each kind at most: those in line and running,
-- those put off, and the ended ones by state. `live` and `later` are the numbers of jobs read.
with live as (
    select tenant_id, created_by, state, outcome, due_at from windlass_live
    where created_by = :owner order by id desc limit :look
),
later as (
    select tenant_id, created_by, state, outcome, due_at from windlass_later
    where created_by = :owner order by id desc limit :look
),
own_live as (
    select state, outcome, due_at from live
    where created_by = :owner and ({text :tenant_id} is null or tenant_id = :tenant_id)
),
own_later as (
    select state, outcome, due_at from later
    where created_by = :owner and ({text :tenant_id} is null or tenant_id = :tenant_id)
)
select
    (select count(*) from live) as live,
    (select count(*) from later) as later,
    (select count(*) from own_live where state = 'running') as running,
    (select count(*) from own_later where state = 'pending') as pending,
    (select count(*) from own_live where state = 'queued')
    + (select count(*) from own_later where state = 'queued') as queued,
    (select count(*) from own_later where state = 'queued' and due_at > {now}
        and (outcome is null or outcome not in ('failed', 'lost', 'timed_out'))) as scheduled,
    (select count(*) from own_live
     where state = 'queued' and outcome in ('failed', 'lost', 'timed_out'))
    + (select count(*) from own_later
       where state = 'queued' and outcome in ('failed', 'lost', 'timed_out')) as retrying,
    (select min(due_at) from (
        select due_at from own_live where state = 'queued'
        union all
        select due_at from own_later where state = 'queued' and due_at <= {now}
    ) d) as oldest_due_at,
    (select count(*) from (select 1 from windlass_ended
        where created_by = :owner and state = 'completed'
            and ({text :tenant_id} is null or tenant_id = :tenant_id) limit :look) c
    ) as completed,
    (select count(*) from (select 1 from windlass_ended
        where created_by = :owner and state = 'canceled'
            and ({text :tenant_id} is null or tenant_id = :tenant_id) limit :look) c
    ) as canceled,
    (select count(*) from (select 1 from windlass_ended
        where created_by = :owner and state = 'dead_letter'
            and ({text :tenant_id} is null or tenant_id = :tenant_id) limit :look) c
    ) as dead_letter
