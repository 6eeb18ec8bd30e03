-- Counts the newest dead-lettered jobs of a definition whose causes are muted for all, by when they came.
select
    coalesce(sum(case when j.finished_at > {now} - 3600000000 then 1 else 0 end), 0) as hour,
    coalesce(sum(case when j.finished_at > {now} - 86400000000 then 1 else 0 end), 0) as day
from (
    select finished_at, coalesce(fingerprint, '') as fingerprint
    from windlass_ended
    where definition = :definition and state = 'dead_letter'
    order by id desc limit :look
) j
where j.fingerprint in (
    select m.fingerprint from windlass_mutes m
    where m.definition = :definition and m.tenant_id = '' and (m.muted_until is null or m.muted_until > {now}))
