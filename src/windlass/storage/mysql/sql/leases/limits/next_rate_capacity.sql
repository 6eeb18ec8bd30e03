-- Tells in how many seconds the first attempt that counts under a rate counts no more; null if none does.
select timestampdiff(microsecond, {now}, min(until)) / 1000000 as room_in from windlass_starts where until > {now}
