-- Records the results of jobs of a bulk operation.
update windlass_operation_items as i set state = s.state, note = s.note
from {settled} s
where i.operation_id = :operation_id and i.place = s.place and i.state = 'waiting'
