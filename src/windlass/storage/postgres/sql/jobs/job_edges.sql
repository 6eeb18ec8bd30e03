-- What a job waits for and what waits for it, and who made both.
select p.child_id, p.parent_id, p.policy, p.settled, c.state as child_state, j.state as parent_state,
    c.created_by as child_created_by, j.created_by as parent_created_by
from windlass_parents p
left join windlass_jobs c on c.id = p.child_id
left join windlass_jobs j on j.id = p.parent_id
where p.child_id = :id or p.parent_id = :id
order by p.parent_id, p.child_id
