-- Brings jobs back that wait for another attempt since a clock that was ahead: each waits as long
-- as it was to wait then. Its last change, at the same instant, tells how far ahead that clock was.
update windlass_later
set due_at = due_at - (updated_at - {now}), updated_at = {now}
where rowid in (
    select rowid from windlass_later
    where state = 'queued' and due_at > {now} and updated_at > {now} + :margin * 1000000
        and last_started_at is not null and cancel_to is null
    limit :most)
returning id
