-- Brings jobs back that wait for another attempt since a clock that was ahead: each waits as long
-- as it was to wait then. Its last change, at the same instant, tells how far ahead that clock was.
with far as (
    select id from windlass_later
    where state = 'queued' and due_at > {now}
        and updated_at > {now} + cast(:margin as double precision) * interval '1 second'
        and last_started_at is not null and cancel_to is null
    limit :most for update skip locked
)
update windlass_later j set due_at = j.due_at - (j.updated_at - {now}), updated_at = {now}
from far f where j.id = f.id
returning j.id
