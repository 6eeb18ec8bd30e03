-- Returns the progress of these jobs, in whichever table they are, without payloads.
select id, tenant_id, state, outcome, attempts, due_at, progress, progress_note, log_sequence,
    cancel_requested_at, finished_at, updated_at
from windlass_jobs where id = any(array(select id from {ids} i))
