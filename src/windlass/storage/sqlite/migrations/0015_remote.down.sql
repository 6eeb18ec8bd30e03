-- Takes the kind away: definitions of it are kept as by path, without one, which no worker can run.
alter table windlass_definitions add column kind_before text not null default 'code'
    check (kind_before in ('code', 'path', 'command'));
update windlass_definitions set kind_before = case kind when 'remote' then 'path' else kind end;
alter table windlass_definitions drop column kind;
alter table windlass_definitions rename column kind_before to kind;
