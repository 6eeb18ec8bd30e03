-- Returns which maintenance tasks have work to do.
select
    exists (select 1 from windlass_later where unchecked = 1 and state = 'pending') as unchecked,
    exists (select 1 from windlass_live
        where expires_at <= {now} and state = 'queued' and started_at is null)
        or exists (select 1 from windlass_later where expires_at <= {now} and started_at is null)
        or exists (select 1 from windlass_later where cancel_to is not null) as overdue,
    exists (select 1 from windlass_deltas) as deltas,
    0 as claims,
    exists (select 1 from windlass_events where matched_at is null) as events
