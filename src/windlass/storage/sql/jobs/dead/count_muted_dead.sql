-- Counts the newest dead-lettered jobs of a definition whose causes are muted for all, by when they
-- came.
select
    count(case when j.finished_at > {now} - {seconds 3600} then 1 end) as hour,
    count(case when j.finished_at > {now} - {seconds 86400} then 1 end) as day
from (
    select finished_at, coalesce(fingerprint, '') as fingerprint
    from windlass_ended {index windlass_ended_definition}
    where definition = :definition and state = 'dead_letter'
    order by id desc limit :look
) j
where j.fingerprint in (
    select m.fingerprint from windlass_mutes m
    where m.definition = :definition and m.tenant_id = ''
        and (m.muted_until is null or m.muted_until > {now}))
