-- Returns the state of triggers, the most recently active first.
select id, tenant_id, name, type, definition, enabled, next_run_at, last_run_at, last_job_id,
    last_error, updated_at
from windlass_triggers
order by {greatest}(updated_at, coalesce(last_run_at, updated_at),
    coalesce(last_error_at, updated_at)) desc, id
limit :most
