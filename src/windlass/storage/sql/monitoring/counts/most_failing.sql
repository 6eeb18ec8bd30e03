-- The definitions with the most failed attempts since an instant, including changes not rolled up
-- yet.
select definition, {sum failed} as failed, {sum dead_letter} as dead_letter,
    {sum succeeded} as succeeded
from (
    select tenant_id, queue, definition, failed, dead_letter, succeeded
    from windlass_minutes where minute >= {time :since}
    union all
    select tenant_id, queue, definition, failed, {greatest}(dead_letter, 0) as dead_letter,
    succeeded
    from windlass_deltas where at >= {time :since}
) m
where ({text :tenant_id} is null or tenant_id = :tenant_id)
    and ({text :definition} is null or definition = :definition)
    and ({text :queue} is null or queue = :queue)
group by definition
having {sum failed} > 0
order by {sum failed} desc, definition limit :most
