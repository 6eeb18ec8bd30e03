-- Jobs of a correlation id are looked for among all.
drop index windlass_live_correlation;
drop index windlass_later_correlation;
drop index windlass_ended_correlation;
