-- Enables or disables a definition; its jobs queue behind its own gate while it is disabled.
update windlass_definitions
set enabled = :enabled,
    gated_at = case when gate = case when :enabled and max_concurrency is null then '' else `key` end then gated_at else {now} end,
    gate = case when :enabled and max_concurrency is null then '' else `key` end,
    updated_at = {now}
where `key` = :key;

select `key` from windlass_definitions where `key` = :key
