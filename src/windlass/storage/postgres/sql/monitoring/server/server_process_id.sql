-- Returns the id of the server process of this connection.
select pg_backend_pid() as number
