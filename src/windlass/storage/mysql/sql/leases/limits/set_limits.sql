-- Brings the limits in line with definitions, tenants and queues.

-- let wanted
select concat('definition:', `key`) as name, max_concurrency as max_running, max_per_key,
    rate_count, rate_seconds, key_rate_count, key_rate_seconds
from windlass_definitions
where coalesce(max_concurrency, max_per_key, rate_count, key_rate_count) is not null
union all
select concat('tenant:', id), max_running, null, null, null, null, null
from windlass_tenants where max_running is not null
union all
select concat('queue:', name), max_concurrency, null, null, null, null, null
from windlass_queues where max_concurrency is not null;

delete l from windlass_limits l left join {wanted} w on w.name = l.name where w.name is null;

insert into windlass_limits (name, max_running, max_per_key, rate_count, rate_seconds,
    key_rate_count, key_rate_seconds)
select name, max_running, max_per_key, rate_count, rate_seconds, key_rate_count, key_rate_seconds
from {wanted} w order by name
on duplicate key update
    max_running = values(max_running), max_per_key = values(max_per_key),
    rate_count = values(rate_count), rate_seconds = values(rate_seconds),
    key_rate_count = values(key_rate_count), key_rate_seconds = values(key_rate_seconds)
