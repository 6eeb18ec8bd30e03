-- Expires leases that are longer than any can be: the clock was ahead when they began. Who still
-- holds one renews it, as any that ran out.
update windlass_live set lease_expires_at = {now}
where rowid in (
    select rowid from windlass_live
    where state = 'running' and lease_expires_at > {now} + :longest * 1000000
    order by lease_expires_at desc limit :most)
returning id
