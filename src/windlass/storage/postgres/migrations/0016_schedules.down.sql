-- Forgets dedupe keys of triggers, what became of events, deleted triggers of code, and alerts.
drop table windlass_alerts;
drop table windlass_deleted_triggers;
alter table windlass_events drop matches;
alter table windlass_triggers drop dedupe_key;
