-- For each cause of a definition's newest dead-lettered jobs: how many were dead-lettered in each
-- slot since an instant (rows with a slot), and the tenants hit most (rows with a tenant).
with looked_at as (
    select tenant_id, finished_at, coalesce(fingerprint, '') as fingerprint
    from windlass_ended {index windlass_ended_definition}
    where definition = :definition and state = 'dead_letter'
        and ({text :tenant_id} is null or tenant_id = :tenant_id)
    order by id desc limit :look
),
slots as (
    select fingerprint, {slot finished_at} as slot from looked_at where finished_at >= {time :since}
),
tenants as (
    select fingerprint, tenant_id, jobs,
        row_number() over (partition by fingerprint order by jobs desc, tenant_id) as place
    from (
        select fingerprint, tenant_id, count(*) as jobs from looked_at
        group by fingerprint, tenant_id
    ) t
)
select fingerprint, slot, null as tenant_id, count(*) as jobs, 0 as place
from slots group by fingerprint, slot
union all
select fingerprint, null as slot, tenant_id, jobs, place from tenants where place <= :most_tenants
order by fingerprint, slot, place
