-- Tells which process of the server answers this connection.
select pg_backend_pid() as number
