-- The definitions with the most failed attempts since an instant, changes not folded yet included.
select definition, cast(sum(failed) as signed) as failed, cast(sum(dead_letter) as signed) as dead_letter, cast(sum(succeeded) as signed) as succeeded
from (
    select tenant_id, queue, definition, failed, dead_letter, succeeded
    from windlass_minutes where `minute` >= :since
    union all
    select tenant_id, queue, definition, failed, greatest(dead_letter, 0) as dead_letter, succeeded
    from windlass_deltas where at >= :since
) m
where (:tenant_id is null or tenant_id = :tenant_id)
    and (:definition is null or definition = :definition)
    and (:queue is null or queue = :queue)
group by definition
having sum(failed) > 0
order by sum(failed) desc, definition limit :most
