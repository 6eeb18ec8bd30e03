-- Takes away the classes of errors, and what was done once: `ctx.once` says again that it is to be done.
drop table windlass_done;
alter table windlass_attempts drop column error_class;
drop view windlass_jobs;
alter table windlass_live drop column error_class;
alter table windlass_later drop column error_class;
alter table windlass_ended drop column error_class;
create view windlass_jobs as
    select * from windlass_live union all
    select * from windlass_later union all
    select * from windlass_ended;
