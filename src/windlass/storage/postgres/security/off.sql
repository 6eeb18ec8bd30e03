-- Takes the policies away: every role sees what it was granted. Can be repeated.
do $$
declare
    each record;
begin
    for each in
        select p.polrelid::regclass as name from pg_policy p join pg_class c on c.oid = p.polrelid
        where p.polname = 'windlass_tenant' and c.relnamespace = current_schema()::regnamespace
    loop
        execute format('drop policy windlass_tenant on %s', each.name);
        execute format('alter table %s disable row level security', each.name);
    end loop;
    alter view windlass_jobs reset (security_invoker);
end $$;
