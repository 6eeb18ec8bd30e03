-- Drops everything that Windlass stores, jobs included.
drop view if exists windlass_jobs;
drop table if exists windlass_firings, windlass_worker_codes, windlass_done, windlass_alerts, windlass_deleted_triggers,
    windlass_installation, windlass_invitations, windlass_audit_registry, windlass_audit_chains,
    windlass_mutes, windlass_answers, windlass_histograms, windlass_totals,
    windlass_operation_items, windlass_operations, windlass_audit_heads, windlass_audit,
    windlass_login_tries, windlass_links, windlass_sessions, windlass_tokens, windlass_members,
    windlass_users, windlass_starts, windlass_queues, windlass_events, windlass_triggers,
    windlass_worker_minutes, windlass_rollup_marks, windlass_rollups,
    windlass_minutes, windlass_counts, windlass_deltas, windlass_workers, windlass_logs,
    windlass_transitions, windlass_attempts, windlass_parents, windlass_keys, windlass_holds,
    windlass_limits, windlass_ended, windlass_later, windlass_live, windlass_definitions,
    windlass_tenants;
