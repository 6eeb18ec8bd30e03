-- Makes this transaction the only one that changes definitions or limits until it ends.
select id from windlass_tenants {index primary} where id = 'system' {for update}
