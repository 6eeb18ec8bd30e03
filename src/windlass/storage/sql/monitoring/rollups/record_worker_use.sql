-- Notes how many slots live workers have and use, once a minute.
insert into windlass_worker_minutes (minute, workers, slots, slots_used)
select {minute {now}}, count(*), coalesce(sum(slots), 0), coalesce(sum(slots_used), 0)
from windlass_workers where {since last_seen_at} < lease_seconds * 2 / 3
{or_ignore windlass_worker_minutes.workers}
