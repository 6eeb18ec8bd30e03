-- Gives a role, named in windlass.role, what processes need, and of the audit no more than to add
-- to it.
do $$
declare
    role constant text := quote_ident(current_setting('windlass.role'));
    each record;
begin
    execute format('grant usage on schema %I to %s', current_schema(), role);
    for each in
        select c.oid::regclass as name,
            case
                when c.relname in ('windlass_migrations', 'windlass_jobs') then 'select'
                when c.relname in ('windlass_audit', 'windlass_audit_chains') then 'select, insert'
                when c.relname in ('windlass_audit_heads', 'windlass_audit_registry')
                    then 'select, insert, update'
                else 'select, insert, update, delete'
            end as rights
        from pg_class c
        where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v')
            and c.relname like 'windlass\_%'
    loop
        -- It may have been given more by hand, or by an earlier version.
        if each.name::text like '%windlass\_audit%' then
            execute format('revoke all on %s from %s', each.name, role);
        end if;
        execute format('grant %s on %s to %s', each.rights, each.name, role);
    end loop;
end $$;
