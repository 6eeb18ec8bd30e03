-- Takes away the rules and the events; jobs they made stay.
drop table windlass_events, windlass_triggers;
