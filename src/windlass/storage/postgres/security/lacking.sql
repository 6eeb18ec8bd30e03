-- The role of this connection, why policies would not hold it, and where they do not.
select
    current_user as role,
    coalesce(r.rolsuper, false) as is_superuser,
    coalesce(r.rolbypassrls, false) as passes_all,
    pg_has_role(current_user, c.relowner, 'usage') as owns,
    c.relname as name,
    case when c.relkind = 'v'
        then 'security_invoker=on' = any(coalesce(c.reloptions, '{}'))
        else c.relrowsecurity
    end as secured
from pg_class c left join pg_roles r on r.rolname = current_user
where c.relnamespace = coalesce($1, current_schema())::regnamespace and c.relname like 'windlass\_%'
    and (c.relname in ('windlass_jobs', 'windlass_tenants', 'windlass_attempts',
        'windlass_transitions',
        'windlass_operation_items')
    or c.relkind = 'r' and exists (
        select 1 from pg_attribute a
        where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    ))
order by c.relname
