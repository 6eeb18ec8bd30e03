-- Pauses, resumes or limits a queue, with who did it and why.
insert into windlass_queues (name, paused_at, paused_by, pause_reason, max_concurrency, updated_at)
select {text :name}, case when {bool :paused} then {now} end, {text :paused_by},
    {text :pause_reason}, {int :max_concurrency}, {now}
from (select 1 as one) one where true
{on_conflict name}
    paused_at = {new paused_at}, paused_by = {new paused_by}, pause_reason = {new pause_reason},
    max_concurrency = {new max_concurrency}, updated_at = {new updated_at}
