-- Locks the installation's epoch until the transaction ends, so that one process begins a new one.
select epoch, server, token_floor from windlass_installation where id = 1 {for update}
