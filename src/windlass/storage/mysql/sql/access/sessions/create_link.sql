-- Makes a link that works once, for a user who is still there.
insert into windlass_links (hash, purpose, user_id, created_at, expires_at)
select :hash, :purpose, id, {now}, {now} + interval round(:expires * 1000000) microsecond from windlass_users where id = :user_id lock in share mode;

select user_id from windlass_links where hash = :hash
