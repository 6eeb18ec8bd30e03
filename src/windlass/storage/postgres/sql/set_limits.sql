-- Makes the limits say what definitions and tenants say. Claims wait until this has committed: one
-- under way would not know the new limit, and what it takes would never be counted under it.
lock table windlass_limits, windlass_holds in exclusive mode;
with wanted as (
    select 'definition:' || key as name, max_concurrency as max_running
    from windlass_definitions where max_concurrency is not null
    union all
    select 'tenant:' || id, max_running from windlass_tenants where max_running is not null
),
gone as (
    delete from windlass_limits where name not in (select name from wanted)
)
insert into windlass_limits as l (name, max_running)
select name, max_running from wanted order by name
on conflict (name) do update set max_running = excluded.max_running
    where l.max_running <> excluded.max_running;
