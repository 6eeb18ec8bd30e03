-- Returns settings of the server that matter to a queue, as this connection has them.
show session variables
where variable_name in ('version', 'tx_isolation', 'transaction_isolation',
    'innodb_flush_log_at_trx_commit')
