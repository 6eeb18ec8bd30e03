-- Takes away what operators want of workers: all of them run.
alter table windlass_workers drop column wanted;
alter table windlass_workers drop column wanted_by;
alter table windlass_workers drop column wanted_at;
alter table windlass_workers drop column doing;
