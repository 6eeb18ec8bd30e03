-- Forgets all but the newest firings of a trigger.
delete from windlass_firings
where trigger_id = :id and due_at <= (
    select due_at from (
        select due_at from windlass_firings where trigger_id = :id
        order by due_at desc, job_id desc limit 1 offset :kept
    ) x
)
