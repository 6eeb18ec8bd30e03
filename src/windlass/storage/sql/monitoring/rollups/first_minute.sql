-- The first minute that has counts; null if none has.
select min(minute) as at from windlass_minutes
