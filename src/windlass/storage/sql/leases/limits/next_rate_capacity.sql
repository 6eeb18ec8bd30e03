-- Returns in how many seconds the first attempt that counts under a rate counts no more; null if
-- none does.
select {until min(until)} as room_in from windlass_starts where until > {now}
