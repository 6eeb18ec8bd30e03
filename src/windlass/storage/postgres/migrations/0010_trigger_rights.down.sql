alter table windlass_triggers drop saved_by;
