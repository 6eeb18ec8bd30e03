-- Expires leases that are longer than any can be: the clock was ahead when they began. Who still
-- holds one renews it, as any that ran out.
update windlass_live
set lease_expires_at = {now}
where look_at > {now} + interval round(:longest * 1000000) microsecond and state = 'running'
limit :most;

select row_count() as corrected
