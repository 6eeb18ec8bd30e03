-- Forgets dedupe keys of triggers, what became of events, deleted triggers of code, and alerts.
drop table if exists windlass_alerts;
drop table if exists windlass_deleted_triggers;
alter table windlass_events drop column /*M! if exists */ matches;
alter table windlass_triggers drop column /*M! if exists */ dedupe_key;
