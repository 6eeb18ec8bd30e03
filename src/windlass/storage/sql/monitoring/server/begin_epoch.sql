-- Begins an epoch. Lease tokens given from now on are greater than its floor.
update windlass_installation
set epoch = :epoch, server = :server, token_floor = :token_floor, begun_at = {now}
where id = 1
