-- Expires leases that are longer than any can be: the clock was ahead when they began. Who still
-- holds one renews it, as any that ran out.
with far as (
    select id, job_ids from windlass_claims
    where look_at > {now} + cast(:longest as double precision) * interval '1 second'
    order by look_at limit :most for update skip locked
),
looked as (
    update windlass_claims c set look_at = {now} from far f where c.id = f.id
)
update windlass_live j set lease_expires_at = {now}
where j.id = any(array(select unnest(job_ids) from far)) and j.state = 'running'
    and j.lease_expires_at > {now} + cast(:longest as double precision) * interval '1 second'
returning j.id
