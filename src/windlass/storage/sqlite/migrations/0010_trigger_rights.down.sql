alter table windlass_triggers drop column saved_by;
