-- Returns which maintenance tasks have work to do.
select
    exists (select from windlass_ended where unchecked)
        or exists (select from windlass_later where unchecked) as unchecked,
    exists (select from windlass_live
        where expires_at <= {now} and state = 'queued' and started_at is null)
        or exists (select from windlass_later where expires_at <= {now} and started_at is null)
        or exists (select from windlass_later where cancel_to is not null) as overdue,
    exists (select from windlass_deltas) as deltas,
    exists (select from windlass_claims where look_at <= {now}) as claims,
    exists (select from windlass_events where matched_at is null) as events
