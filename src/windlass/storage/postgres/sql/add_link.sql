-- Makes a link that works once.
insert into windlass_links (hash, purpose, user_id, created_at, expires_at)
values (:hash, :purpose, :user_id, {now}, {now} + cast(:expires as double precision) * interval '1 second')
