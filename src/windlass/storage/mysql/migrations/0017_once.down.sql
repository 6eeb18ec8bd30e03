-- Takes away the classes of errors, and what was done once: `ctx.once` says again that it is to be done.
drop table if exists windlass_done;
alter table windlass_attempts drop column /*M! if exists */ error_class;
drop view if exists windlass_jobs;
alter table windlass_live drop column /*M! if exists */ error_class;
alter table windlass_later drop column /*M! if exists */ error_class;
alter table windlass_ended drop column /*M! if exists */ error_class;
create or replace view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
