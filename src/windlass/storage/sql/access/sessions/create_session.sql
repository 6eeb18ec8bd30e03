-- Begins a session.
insert into windlass_sessions (id, hash, user_id, created_at, expires_at, ends_at, last_seen_at,
    note)
values (:id, :hash, :user_id, {now}, {least}({now} + {seconds :idle}, {now} + {seconds :longest}),
    {now} + {seconds :longest}, {now}, :note)
