-- Brings jobs back that wait for another attempt since a clock that was ahead: each waits as long
-- as it was to wait then. Its last change, at the same instant, tells how far ahead that clock was.
update windlass_later
set due_at = due_at - interval timestampdiff(microsecond, {now}, updated_at) microsecond,
    updated_at = {now}
where state = 'queued' and due_at > {now}
    and updated_at > {now} + interval round(:margin * 1000000) microsecond
    and last_started_at is not null and cancel_to is null
limit :most;

select row_count() as corrected
