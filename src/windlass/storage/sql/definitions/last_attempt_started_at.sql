-- When the newest ended jobs of a definition began their last attempt, in a tenant or in any: of
-- each state no more than a few are looked at.
select max(last_started_at) as last_run_at
from (
    select tenant_id, last_started_at from (
        select tenant_id, last_started_at from windlass_ended
        where definition = :definition and state = 'completed' order by id desc limit 50
    ) c
    union all
    select tenant_id, last_started_at from (
        select tenant_id, last_started_at from windlass_ended
        where definition = :definition and state = 'dead_letter' order by id desc limit 50
    ) d
    union all
    select tenant_id, last_started_at from (
        select tenant_id, last_started_at from windlass_ended
        where definition = :definition and state = 'canceled' order by id desc limit 50
    ) x
) j
where {text :tenant_id} is null or tenant_id = :tenant_id
