-- Begins a session.
insert into windlass_sessions (id, hash, user_id, created_at, expires_at, ends_at, last_seen_at, note)
values (:id, :hash, :user_id, {now}, min({now} + cast(:idle * 1000000 as integer), {now} + cast(:longest * 1000000 as integer)), {now} + cast(:longest * 1000000 as integer), {now}, :note)
