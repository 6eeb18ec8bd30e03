-- Returns jobs of a bulk operation in one state.
select place, job_id, state, note from windlass_operation_items
where operation_id = :operation_id and state = :state and place > :after
order by place limit :most
