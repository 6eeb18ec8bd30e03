-- The definitions with the most failed attempts since an instant, changes not folded yet included.
select definition, sum(failed) as failed, sum(dead_letter) as dead_letter, sum(succeeded) as succeeded
from (
    select tenant_id, queue, definition, failed, dead_letter, succeeded
    from windlass_minutes where minute >= cast(:since as timestamptz)
    union all
    select tenant_id, queue, definition, failed, greatest(dead_letter, 0) as dead_letter, succeeded
    from windlass_deltas where at >= cast(:since as timestamptz)
) m
where (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
    and (cast(:definition as text) is null or definition = :definition)
    and (cast(:queue as text) is null or queue = :queue)
group by definition
having sum(failed) > 0
order by sum(failed) desc, definition limit :most
