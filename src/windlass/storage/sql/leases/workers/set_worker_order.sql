-- Gives an order to a live worker; one that stops accepts no other. Returns its id if it accepts.
update windlass_workers
set wanted = {text :wanted},
    wanted_by = case when wanted = {text :wanted} then wanted_by else {text :wanted_by} end,
    wanted_at = case when wanted = {text :wanted} then wanted_at else {now} end
where id = :id and last_seen_at > {now} - {seconds lease_seconds}
    and ({text :wanted} = 'stop' or 'stop' not in (wanted, doing))
returning id
