-- What happened since an instant by tenant, including changes not rolled up yet.
select tenant_id,
    {sum enqueued} as enqueued, {sum started} as started, {sum succeeded} as succeeded,
    {sum failed} as failed, {sum completed} as completed, {sum canceled} as canceled,
    {sum dead_letter} as dead_letter, {sum run_ms} as run_ms, {sum wait_ms} as wait_ms
from (
    select tenant_id, enqueued, started, succeeded, failed, completed, canceled, dead_letter,
    run_ms, wait_ms
    from windlass_minutes where minute >= {time :since}
    union all
    select tenant_id, enqueued, {greatest}(running, 0) as started, succeeded, failed,
    {greatest}(completed, 0) as completed,
        {greatest}(canceled, 0) as canceled, {greatest}(dead_letter, 0) as dead_letter, run_ms,
        wait_ms
    from windlass_deltas where at >= {time :since}
) m
where ({text :tenant_id} is null or tenant_id = :tenant_id)
group by tenant_id
order by tenant_id
