-- Makes a link that works once, for a user who is still there.
insert into windlass_links (hash, purpose, user_id, created_at, expires_at)
select :hash, :purpose, id, {now}, {now} + cast(:expires * 1000000 as integer) from windlass_users where id = :user_id
returning user_id
