-- Returns which maintenance tasks have work to do.
select
    exists (select 1 from windlass_later force index (windlass_later_unchecked)
        where unchecked = 1) as unchecked,
    exists (select 1 from windlass_live force index (windlass_live_look)
        where look_at <= {now} and state = 'queued')
        or exists (select 1 from windlass_later force index (windlass_later_look)
            where look_at <= {now})
        or exists (select 1 from windlass_later force index (windlass_later_doomed)
            where cancel_to is not null)
        as overdue,
    exists (select 1 from windlass_deltas force index (primary)) as deltas,
    0 as claims,
    exists (select 1 from windlass_events force index (windlass_events_waiting)
        where matched_at is null) as events
