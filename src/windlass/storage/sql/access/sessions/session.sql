-- Returns the session of a hash and its user, while it lasts and the user may sign in.
select s.*, u.name, u.superadmin, s.last_seen_at < {now} - {seconds :seconds} as stale
from windlass_sessions s join windlass_users u on u.id = s.user_id
where s.hash = :hash and s.expires_at > {now} and {false u.disabled}
