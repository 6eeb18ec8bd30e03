-- Returns the progress of these jobs, in whichever table they are, without payloads.
select j.id, j.tenant_id, j.state, j.outcome, j.attempts, j.due_at, j.progress, j.progress_note,
    j.log_sequence, j.cancel_requested_at, j.finished_at, j.updated_at
from {ids} i {join} windlass_live j {index primary} on j.id = i.id
union all
select j.id, j.tenant_id, j.state, j.outcome, j.attempts, j.due_at, j.progress, j.progress_note,
    j.log_sequence, j.cancel_requested_at, j.finished_at, j.updated_at
from {ids} i {join} windlass_later j {index primary} on j.id = i.id
union all
select j.id, j.tenant_id, j.state, j.outcome, j.attempts, j.due_at, j.progress, j.progress_note,
    j.log_sequence, j.cancel_requested_at, j.finished_at, j.updated_at
from {ids} i {join} windlass_ended j {index primary} on j.id = i.id
