-- Jobs of a correlation id are looked for among all.
drop index /*M! if exists */ windlass_ended_correlation on windlass_ended;
