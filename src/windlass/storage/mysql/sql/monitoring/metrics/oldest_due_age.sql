-- For how many seconds the longest waiting job of each queue and tenant has been due. It skips
-- through the claim's index by tenant, gate and priority: its cost is the lines, not the jobs in
-- them.
select queue, tenant_id, timestampdiff(microsecond, min(due_at), {now}) / 1000000 as age from (
    select queue, tenant_id, min(due_at) as due_at
    from windlass_live force index (windlass_live_line)
    where state = 'queued'
    group by queue, tenant_id, gate, state, priority
    union all
    -- Due, and not yet seen to be so.
    (select queue, tenant_id, due_at from windlass_later force index (windlass_later_due)
     where state = 'queued' and due_at <= {now}
     order by due_at limit :most)
) d
group by queue, tenant_id
