-- Tells how many seconds it is until the next trigger is due.
select (min(next_run_at) - {now}) / 1000000.0 as due_in
from windlass_triggers
where enabled = 1 and next_run_at > {now}
