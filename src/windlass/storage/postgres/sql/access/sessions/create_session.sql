-- Begins a session.
insert into windlass_sessions (id, hash, user_id, created_at, expires_at, ends_at, last_seen_at, note)
values (:id, :hash, :user_id, {now}, least({now} + cast(:idle as double precision) * interval '1 second', {now} + cast(:longest as double precision) * interval '1 second'), {now} + cast(:longest as double precision) * interval '1 second', {now}, :note)
