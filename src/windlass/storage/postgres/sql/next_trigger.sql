-- Tells how many seconds it is until the next trigger is due.
select extract(epoch from min(next_run_at) - {now}) as due_in
from windlass_triggers
where enabled and next_run_at > {now}
