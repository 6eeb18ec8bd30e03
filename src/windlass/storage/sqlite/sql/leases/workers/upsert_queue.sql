-- Says of a queue whether it is paused, by whom and why, and how many of its jobs may run.
insert into windlass_queues (name, paused_at, paused_by, pause_reason, max_concurrency, updated_at)
select :name, case when :paused then {now} end, :paused_by, :pause_reason, :max_concurrency, {now} where true
on conflict (name) do update set
    paused_at = excluded.paused_at, paused_by = excluded.paused_by, pause_reason = excluded.pause_reason,
    max_concurrency = excluded.max_concurrency, updated_at = excluded.updated_at
