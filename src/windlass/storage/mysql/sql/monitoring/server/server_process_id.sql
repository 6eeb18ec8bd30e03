-- Returns the id of the server thread of this connection.
select connection_id() as number
