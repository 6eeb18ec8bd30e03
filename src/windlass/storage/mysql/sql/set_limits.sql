-- Makes the limits say what definitions and tenants say.
delete l from windlass_limits l
left join (
    select concat('definition:', `key`) as name from windlass_definitions where max_concurrency is not null
    union all
    select concat('tenant:', id) from windlass_tenants where max_running is not null
) w on w.name = l.name
where w.name is null;

insert into windlass_limits (name, max_running)
select name, max_running from (
    select concat('definition:', `key`) as name, max_concurrency as max_running
    from windlass_definitions where max_concurrency is not null
    union all
    select concat('tenant:', id), max_running from windlass_tenants where max_running is not null
) w order by name
on duplicate key update max_running = values(max_running)
