-- Tells in how many seconds the first attempt that counts under a rate counts no more; null if none does.
select (min(until) - {now}) / 1000000.0 as room_in from windlass_starts where until > {now}
