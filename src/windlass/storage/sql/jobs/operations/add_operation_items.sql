-- Freezes jobs of a bulk operation.
insert into windlass_operation_items (operation_id, place, job_id)
select {uuid :operation_id}, i.place, i.job_id from {items} i
