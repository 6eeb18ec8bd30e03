-- Creates a link that works once, for a user who still exists.
insert into windlass_links (hash, purpose, user_id, created_at, expires_at)
select {text :hash}, {text :purpose}, id, {now}, {now} + {seconds :expires}
from windlass_users where id = :user_id {share};

select user_id from windlass_links where hash = :hash
