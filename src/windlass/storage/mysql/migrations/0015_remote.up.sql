-- Definitions whose handler lives in a worker without this code: a kind more. The statement can be repeated.
alter table windlass_definitions
    drop constraint windlass_definitions_kind,
    add constraint windlass_definitions_kind check (kind in ('code', 'path', 'command', 'remote'));
