-- Jobs are found by their correlation id, whatever lies around. Jobs without one are in no index.
create index windlass_live_correlation on windlass_live (correlation_id, id) where correlation_id is not null;
create index windlass_later_correlation on windlass_later (correlation_id, id) where correlation_id is not null;
create index windlass_ended_correlation on windlass_ended (correlation_id, id) where correlation_id is not null;
