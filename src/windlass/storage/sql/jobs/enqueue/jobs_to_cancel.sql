-- Finds waiting jobs that must end: their time to start has passed, or a parent failed.
select * from (
    select id, 'expired' as reason from windlass_live
    where expires_at <= {now} and state = 'queued' and started_at is null
    order by expires_at limit :most
) live
union all
select * from (
    select id, 'expired' from windlass_later
    where expires_at <= {now} and started_at is null order by expires_at limit :most
) later
union all
select * from (
    select id, reason from windlass_later where cancel_to is not null order by id limit :most
) doomed
