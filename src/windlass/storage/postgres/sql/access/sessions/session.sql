-- Tells the session of a hash and its user, while it lasts and the user may sign in.
select s.*, u.name, u.superadmin, s.last_seen_at < {now} - cast(:seconds as double precision) * interval '1 second' as stale
from windlass_sessions s join windlass_users u on u.id = s.user_id
where s.hash = :hash and s.expires_at > {now} and not u.disabled
