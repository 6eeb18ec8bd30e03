-- Returns the installation's epoch, since when it lasts and which server it belongs to.
select epoch, server, token_floor, begun_at from windlass_installation where id = 1
