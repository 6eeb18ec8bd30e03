-- The mean slots of live workers in each of the slots asked for; those without a note are left out.
select s.at, avg(w.workers) as workers, avg(w.slots) as slots, avg(w.slots_used) as slots_used
from {spans} s
{join} windlass_worker_minutes w on w.minute >= s.at and w.minute < s.at + {seconds s.span}
group by s.at
order by s.at
