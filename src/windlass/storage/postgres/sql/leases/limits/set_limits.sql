-- Brings the limits in line with definitions, tenants and queues. Claims wait until this has
-- committed: one under way would not know the new limit, and what it takes would never be counted
-- under it.
lock table windlass_limits, windlass_holds in exclusive mode;
with wanted as (
    select 'definition:' || key as name, max_concurrency as max_running, max_per_key,
        rate_count, rate_seconds, key_rate_count, key_rate_seconds
    from windlass_definitions
    where coalesce(max_concurrency, max_per_key, rate_count, key_rate_count) is not null
    union all
    select 'tenant:' || id, max_running, null, null, null, null, null
    from windlass_tenants where max_running is not null
    union all
    select 'queue:' || name, max_concurrency, null, null, null, null, null
    from windlass_queues where max_concurrency is not null
),
gone as (
    delete from windlass_limits where name not in (select name from wanted)
)
insert into windlass_limits as l (name, max_running, max_per_key, rate_count, rate_seconds,
    key_rate_count, key_rate_seconds)
select name, max_running, max_per_key, rate_count, rate_seconds, key_rate_count, key_rate_seconds
from wanted order by name
on conflict (name) do update set
    max_running = excluded.max_running, max_per_key = excluded.max_per_key,
    rate_count = excluded.rate_count, rate_seconds = excluded.rate_seconds,
    key_rate_count = excluded.key_rate_count, key_rate_seconds = excluded.key_rate_seconds;
