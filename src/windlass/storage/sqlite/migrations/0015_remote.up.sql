-- Definitions whose handler lives in a worker without this code: a kind more. A check cannot be altered, so
-- the column is made anew.

alter table windlass_definitions add column kind_wider text not null default 'code'
    check (kind_wider in ('code', 'path', 'command', 'remote'));
update windlass_definitions set kind_wider = kind;
alter table windlass_definitions drop column kind;
alter table windlass_definitions rename column kind_wider to kind;
