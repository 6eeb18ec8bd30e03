-- Takes away mutes, and operations that changed waiting jobs; the jobs stay as they were changed.
drop table windlass_mutes;
delete from windlass_operations where action = 'update';
alter table windlass_operations
    drop constraint windlass_operations_action_check,
    add constraint windlass_operations_action_check check (action in ('cancel', 'retry', 'run_now', 'discard')),
    drop changes;
