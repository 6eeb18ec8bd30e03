-- Makes this transaction the only one that changes definitions or limits until it ends. Claims wait.
select id from windlass_tenants force index (primary) where id = 'system' for update
