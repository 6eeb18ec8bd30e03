-- The earliest due time of the jobs in line, by queue, among the oldest; those not promoted yet
-- included.
select queue, min(due_at) as due_at
from (
    select * from (
        select queue, tenant_id, state, due_at from windlass_live order by id limit :look) in_line
    union all
    select * from (
        select queue, tenant_id, state, due_at from windlass_later
        where state = 'queued' and due_at <= {now} order by due_at limit :look) put_off
) j
where state = 'queued' and ({text :tenant_id} is null or tenant_id = :tenant_id)
group by queue
