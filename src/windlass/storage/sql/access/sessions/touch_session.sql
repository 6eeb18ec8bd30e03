-- Records that a session was seen, and puts its end off.
update windlass_sessions
set last_seen_at = {now}, expires_at = {least}({now} + {seconds :idle}, ends_at)
where id = :id and expires_at > {now}
