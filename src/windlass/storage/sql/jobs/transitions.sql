-- The steps of a job that its row and its attempts do not tell.
select at, from_state, to_state, actor, message from windlass_transitions where job_id = :id
order by id
