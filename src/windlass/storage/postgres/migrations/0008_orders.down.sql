-- Takes away what operators want of workers: all of them run.
alter table windlass_workers drop wanted, drop wanted_by, drop wanted_at, drop doing;
