-- Groups the newest dead-lettered jobs of a definition by the cause of their failure, with a sample of each.
with looked_at as (
    select id, tenant_id, finished_at, coalesce(fingerprint, '') as fingerprint
    from windlass_ended
    where definition = :definition and state = 'dead_letter'
        and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
    order by id desc limit :look
),
causes as (
    select fingerprint, count(*) as jobs, count(distinct tenant_id) as tenants,
        min(finished_at) as first_at, max(finished_at) as last_at, cast(max(cast(id as text)) as uuid) as sample_id
    from looked_at group by fingerprint order by max(finished_at) desc, fingerprint limit :most
)
select c.fingerprint, c.jobs, c.tenants, c.first_at, c.last_at, c.sample_id, j.last_error, j.error_type, j.error_trace
from causes c join windlass_ended j on j.id = c.sample_id
order by c.last_at desc, c.fingerprint
