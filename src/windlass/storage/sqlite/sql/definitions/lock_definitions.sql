-- Makes this transaction the only one that changes definitions or limits until it ends.
-- Nothing needs a lock: a transaction that may write is alone.
select id from windlass_tenants where id = 'system'
