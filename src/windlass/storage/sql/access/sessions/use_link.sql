-- Uses a link up; answers whose it is if nobody used it before and it is not too old.
update windlass_links
set used_at = {now}
where hash = :hash and purpose = :purpose and used_at is null and expires_at > {now}
returning user_id
