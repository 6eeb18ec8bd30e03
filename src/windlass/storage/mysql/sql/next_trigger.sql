-- Tells how many seconds it is until the next trigger is due.
select timestampdiff(microsecond, {now}, min(next_run_at)) / 1000000 as due_in
from windlass_triggers force index (windlass_triggers_due)
where enabled = 1 and next_run_at > {now}
