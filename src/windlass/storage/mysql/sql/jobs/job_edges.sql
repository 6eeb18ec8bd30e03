-- What a job waits for and what waits for it, and who made both.
-- The tables are named one by one: a view of all three would be read from end to end.
select p.child_id, p.parent_id, p.policy, p.settled,
    coalesce(c1.state, c2.state, c3.state) as child_state,
    coalesce(p1.state, p2.state, p3.state) as parent_state,
    coalesce(c1.created_by, c2.created_by, c3.created_by) as child_created_by,
    coalesce(p1.created_by, p2.created_by, p3.created_by) as parent_created_by
from (
    select * from windlass_parents where child_id = :id
    union
    select * from windlass_parents where parent_id = :id
) p
left join windlass_live c1 on c1.id = p.child_id
left join windlass_later c2 on c2.id = p.child_id
left join windlass_ended c3 on c3.id = p.child_id
left join windlass_live p1 on p1.id = p.parent_id
left join windlass_later p2 on p2.id = p.parent_id
left join windlass_ended p3 on p3.id = p.parent_id
order by p.parent_id, p.child_id
