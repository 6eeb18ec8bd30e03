-- Forgets dedupe keys of triggers, what became of events, deleted triggers of code, and alerts.
drop table windlass_alerts;
drop table windlass_deleted_triggers;
alter table windlass_events drop column matches;
alter table windlass_triggers drop column dedupe_key;
