-- Ended jobs are found by their correlation id. Open ones are not: there are no partial indexes here, and each job
-- would pay at every move.
create index /*M! if not exists */ windlass_ended_correlation on windlass_ended (correlation_id(191), id);
