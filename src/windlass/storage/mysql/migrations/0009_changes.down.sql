-- Takes away mutes, and operations that changed waiting jobs; the jobs stay as they were changed.
drop table if exists windlass_mutes;
delete from windlass_operations where action = 'update';
alter table windlass_operations drop constraint /*M! if exists */ windlass_operations_action;
alter table windlass_operations
    add constraint windlass_operations_action check (action in ('cancel', 'retry', 'run_now', 'discard')),
    drop column /*M! if exists */ changes;
