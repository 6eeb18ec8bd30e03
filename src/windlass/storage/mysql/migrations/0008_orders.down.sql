-- Takes away what operators want of workers: all of them run.
alter table windlass_workers
    drop column /*M! if exists */ wanted, drop column /*M! if exists */ wanted_by,
    drop column /*M! if exists */ wanted_at, drop column /*M! if exists */ doing;
