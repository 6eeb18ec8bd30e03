-- Groups the newest dead-lettered jobs of a definition by the cause of their failure, with a sample
-- of each. Causes that are muted for this tenant are left out, or told with who muted them.
with muted as (
    select fingerprint, muted_at, muted_by, muted_until, reason,
        row_number() over (partition by fingerprint order by tenant_id) as turn
    from windlass_mutes
    where definition = :definition and tenant_id in ('', coalesce({text :tenant_id}, ''))
        and (muted_until is null or muted_until > {now})
),
looked_at as (
    select id, tenant_id, finished_at, coalesce(fingerprint, '') as fingerprint
    from windlass_ended {index windlass_ended_definition}
    where definition = :definition and state = 'dead_letter'
        and ({text :tenant_id} is null or tenant_id = :tenant_id)
    order by id desc limit :look
),
causes as (
    select fingerprint, count(*) as jobs, count(distinct tenant_id) as tenants,
        min(finished_at) as first_at, max(finished_at) as last_at,
        {uuid max({text id})} as sample_id
    from looked_at
    where {bool :muted} or fingerprint not in (select fingerprint from muted)
    group by fingerprint order by max(finished_at) desc, fingerprint limit :most
)
select c.fingerprint, c.jobs, c.tenants, c.first_at, c.last_at, c.sample_id, j.last_error,
    j.error_type, j.error_trace, j.worker_id,
    m.muted_at, m.muted_by, m.muted_until, m.reason
from causes c join windlass_ended j on j.id = c.sample_id
left join muted m on m.fingerprint = c.fingerprint and m.turn = 1
order by c.last_at desc, c.fingerprint
