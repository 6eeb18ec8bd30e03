-- Expires all links of a user.
update windlass_links set used_at = {now} where user_id = :user_id and used_at is null
