-- Locks the leases that have run out, for a reaper to end them; rows that are locked are passed by.
select j.id, j.lease_token from windlass_live j
where j.id = any(array(select id from {held} h)) and j.state = 'running'
    and ((j.id, j.lease_token) in (select id, token from {held} h)) is true
    and j.lease_expires_at <= {now}
order by j.id for update skip locked
