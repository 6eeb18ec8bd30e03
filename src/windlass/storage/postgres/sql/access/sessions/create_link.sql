-- Makes a link that works once, for a user who is still there.
insert into windlass_links (hash, purpose, user_id, created_at, expires_at)
select cast(:hash as text), cast(:purpose as text), id, {now}, {now} + cast(:expires as double precision) * interval '1 second' from windlass_users where id = :user_id for key share
returning user_id
