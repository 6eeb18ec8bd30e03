-- Returns the next jobs of a bulk operation.
select place, job_id from windlass_operation_items
where operation_id = :operation_id and state = 'waiting'
order by place limit :most
