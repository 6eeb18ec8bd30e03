-- Dedupe keys of triggers, what became of events, deleted triggers of code, and alerts. Safe while older code
-- runs: it ignores them.

-- A template: jobs of the trigger with an equal key count as equal.
alter table windlass_triggers add column dedupe_key text;

-- What each trigger did with the event, as JSON; null before the event was matched.
alter table windlass_events add column matches text;

-- Triggers declared in code that an operator deleted: a sync does not make them again.
create table windlass_deleted_triggers (
    tenant_id text not null,
    -- The name they have in code.
    name text not null check (length(name) between 1 and 191),
    definition text not null,
    deleted_at integer not null,
    primary key (tenant_id, name)
) strict;

-- Which causes of dead letters a receiver was told of, and when that was last tried.
create table windlass_alerts (
    receiver text not null check (length(receiver) between 1 and 64),
    definition text not null check (length(definition) <= 191),
    fingerprint text not null check (length(fingerprint) <= 64),
    tried_at integer not null,
    -- When the newest job it was told of was dead-lettered; null before a first success.
    told_until integer,
    primary key (receiver, definition, fingerprint)
) strict, without rowid;
create index windlass_alerts_tried on windlass_alerts (tried_at);
