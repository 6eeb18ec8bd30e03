-- Says of a queue whether it is paused, by whom and why, and how many of its jobs may run.
insert into windlass_queues (name, paused_at, paused_by, pause_reason, max_concurrency, updated_at)
select :name, case when :paused then {now} end, :paused_by, :pause_reason, :max_concurrency, {now}
on duplicate key update
    paused_at = values(paused_at), paused_by = values(paused_by), pause_reason = values(pause_reason),
    max_concurrency = values(max_concurrency), updated_at = values(updated_at)
