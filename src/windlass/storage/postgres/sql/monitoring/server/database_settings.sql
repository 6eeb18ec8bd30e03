-- Returns settings of the server that matter to a queue, as this connection has them.
select name, setting as value
from pg_settings
where name in ('server_version', 'default_transaction_isolation', 'autovacuum', 'max_connections')
