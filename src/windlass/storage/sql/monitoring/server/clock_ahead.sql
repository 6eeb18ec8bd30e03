-- Returns by how many seconds the latest instant that was written is ahead of now: more than a
-- moment if the clock was ahead then. Nothing if nothing was written.
select {until max(w.at)} as ahead
from (select max(minute) as at from windlass_minutes union all select max(at)
    from windlass_deltas) w
