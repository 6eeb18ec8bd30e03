-- Removes everything Windlass made, jobs included.
drop view windlass_jobs;
drop table windlass_minutes, windlass_counts, windlass_deltas, windlass_workers, windlass_logs,
    windlass_transitions, windlass_attempts, windlass_parents, windlass_keys, windlass_holds,
    windlass_limits, windlass_claims, windlass_ended, windlass_later, windlass_live,
    windlass_definitions, windlass_tenants;
