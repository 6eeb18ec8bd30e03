-- Counts queued jobs by view, among so many of each table, and how many were looked at.
with in_line as (
    select tenant_id, state, outcome from windlass_live order by id limit :look
),
put_off as (
    select due_at, outcome from windlass_later
    where state = 'queued' and ({text :tenant_id} is null or tenant_id = :tenant_id)
    order by due_at limit :look
)
select
    (select count(*) from in_line) as live,
    (select count(*) from put_off) as later,
    (select count(*) from put_off
     where due_at > {now}
         and (outcome is null or outcome not in ('failed', 'lost', 'timed_out'))) as scheduled,
    (select count(*) from put_off where outcome in ('failed', 'lost', 'timed_out'))
    + (select count(*) from in_line
       where state = 'queued' and outcome in ('failed', 'lost', 'timed_out')
           and ({text :tenant_id} is null or tenant_id = :tenant_id)) as retrying
