-- Takes away the rules and the events; jobs they made stay.
drop table if exists windlass_events, windlass_triggers;
