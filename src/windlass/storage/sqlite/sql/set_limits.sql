-- Makes the limits say what definitions and tenants say.

-- let wanted
select 'definition:' || key as name, max_concurrency as max_running
from windlass_definitions where max_concurrency is not null
union all
select 'tenant:' || id, max_running from windlass_tenants where max_running is not null;

delete from windlass_limits where name not in (select name from {wanted} w);

insert into windlass_limits as l (name, max_running)
select name, max_running from {wanted} w where true
on conflict (name) do update set max_running = excluded.max_running
    where l.max_running <> excluded.max_running
