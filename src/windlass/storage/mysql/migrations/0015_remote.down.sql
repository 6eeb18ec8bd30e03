-- Takes the kind away: definitions of it are kept as by path, without one, which no worker can run.
update windlass_definitions set kind = 'path' where kind = 'remote';
alter table windlass_definitions
    drop constraint windlass_definitions_kind,
    add constraint windlass_definitions_kind check (kind in ('code', 'path', 'command'));
