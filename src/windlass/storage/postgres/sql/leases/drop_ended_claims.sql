-- Deletes claims without running jobs, and moves the others to when their leases expire.
with due as (
    select c.id, c.job_ids from windlass_claims c
    where c.look_at <= {now} order by c.look_at limit 200 for update skip locked
),
seen as (
    select d.id, min(j.lease_expires_at) as next_at
    from due d cross join lateral unnest(d.job_ids) x(job_id)
    left join windlass_live j on j.id = x.job_id and j.state = 'running'
    group by d.id
),
gone as (
    delete from windlass_claims c using seen s where c.id = s.id and s.next_at is null
        returning c.id
),
kept as (
    update windlass_claims c set look_at = s.next_at from seen s
    where c.id = s.id and s.next_at > {now}
    returning c.id
)
select count(*) as forgotten from gone
