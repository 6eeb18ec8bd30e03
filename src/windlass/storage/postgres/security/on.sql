-- A role that does not own the tables sees the rows of the tenant that its connection names, all of
-- them where it names the empty one, and none where it names nothing. Can be repeated.
do $$
declare
    -- As subqueries, which are asked once for a statement and not for each row.
    unbound constant text := '(select current_setting(''windlass.tenant'', true)) = ''''';
    own constant text := '(select current_setting(''windlass.tenant'', true))';
    each record;
begin
    for each in
        select c.oid::regclass as name,
            case when c.relname = 'windlass_tenants' then 'id'
                else 'tenant_id' end || ' = ' || own as seen,
            null as written
        from pg_class c
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
            and c.relname like 'windlass\_%'
            and (c.relname = 'windlass_tenants' or exists (
                select 1 from pg_attribute a
                where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
            ))
        union all
        -- Rows of a job that is stored by the same statement are not seen yet, and may be written.
        select t::regclass, 'exists (select 1 from windlass_jobs j where j.id = job_id)', 'true'
        from unnest(array['windlass_attempts', 'windlass_transitions']) t
        union all
        select 'windlass_operation_items'::regclass,
            'exists (select 1 from windlass_operations o where o.id = operation_id)', 'true'
    loop
        execute format('alter table %s enable row level security', each.name);
        execute format('drop policy if exists windlass_tenant on %s', each.name);
        execute format('create policy windlass_tenant on %s using (%s or %s)', each.name, unbound,
            each.seen)
            || coalesce(' with check (' || each.written || ')', '');
    end loop;
    -- What is muted for all is so for each: seen by everybody, and changed by nobody who is bound.
    drop policy if exists windlass_everybody on windlass_mutes;
    create policy windlass_everybody on windlass_mutes for select using (tenant_id = '');
    -- Else the view would look with the eyes of its owner, whom no policy holds.
    alter view windlass_jobs set (security_invoker = on);
end $$;
