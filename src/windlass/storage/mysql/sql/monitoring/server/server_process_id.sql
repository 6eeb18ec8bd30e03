-- Tells which thread of the server answers this connection.
select connection_id() as number
