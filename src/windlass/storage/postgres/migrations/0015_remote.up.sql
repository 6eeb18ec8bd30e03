-- Definitions whose handler lives in a worker without this code: a kind more.
alter table windlass_definitions
    drop constraint windlass_definitions_kind_check,
    add constraint windlass_definitions_kind_check check (kind in ('code', 'path', 'command', 'remote'));
