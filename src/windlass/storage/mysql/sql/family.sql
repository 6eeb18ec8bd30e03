-- What a job waits for and what waits for it.
-- The tables are named one by one: a view of all three would be read from end to end.
select p.child_id, p.parent_id, p.policy, p.settled,
    coalesce(c1.state, c2.state, c3.state) as child_state,
    coalesce(p1.state, p2.state, p3.state) as parent_state
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
