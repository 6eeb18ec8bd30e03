-- The slots of live workers by minute since an instant.
select minute as at, workers, slots, slots_used from windlass_worker_minutes
where minute >= {time :since} order by minute
