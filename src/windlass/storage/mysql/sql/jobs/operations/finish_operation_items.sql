-- Records the results of jobs of a bulk operation.
update {settled} s
straight_join windlass_operation_items i force index (primary) on i.operation_id = :operation_id
    and i.place = s.place
set i.state = s.state, i.note = s.note
where i.state = 'waiting'
