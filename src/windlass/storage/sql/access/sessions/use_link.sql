-- Uses a link up; returns its user if it is unused and not expired.
update windlass_links
set used_at = {now}
where hash = :hash and purpose = :purpose and used_at is null and expires_at > {now}
returning user_id
