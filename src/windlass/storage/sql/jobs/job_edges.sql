-- What a job waits for and what waits for it, and who made both.
select p.child_id, p.parent_id, p.policy, p.settled,
    (select c.state from windlass_jobs c where c.id = p.child_id) as child_state,
    (select j.state from windlass_jobs j where j.id = p.parent_id) as parent_state,
    (select c.created_by from windlass_jobs c where c.id = p.child_id) as child_created_by,
    (select j.created_by from windlass_jobs j where j.id = p.parent_id) as parent_created_by
from windlass_parents p
where p.child_id = :id or p.parent_id = :id
order by p.parent_id, p.child_id
