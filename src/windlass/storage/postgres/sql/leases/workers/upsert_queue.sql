-- Says of a queue whether it is paused, by whom and why, and how many of its jobs may run.
insert into windlass_queues (name, paused_at, paused_by, pause_reason, max_concurrency, updated_at)
select cast(:name as text), case when cast(:paused as boolean) then {now} end, cast(:paused_by as text),
    cast(:pause_reason as text), cast(:max_concurrency as integer), {now}
on conflict (name) do update set
    paused_at = excluded.paused_at, paused_by = excluded.paused_by, pause_reason = excluded.pause_reason,
    max_concurrency = excluded.max_concurrency, updated_at = excluded.updated_at
