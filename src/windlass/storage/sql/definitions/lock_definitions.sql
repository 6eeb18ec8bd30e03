-- Locks definitions and limits for this transaction.
select id from windlass_tenants {index primary} where id = 'system' {for update}
