-- Begins a session.
insert into windlass_sessions (id, hash, user_id, created_at, expires_at, ends_at, last_seen_at, note)
values (:id, :hash, :user_id, {now}, least({now} + interval round(:idle * 1000000) microsecond, {now} + interval round(:longest * 1000000) microsecond), {now} + interval round(:longest * 1000000) microsecond, {now}, :note)
