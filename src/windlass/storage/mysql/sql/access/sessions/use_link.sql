-- Uses a link up; answers whose it is if nobody used it before and it is not too old.
-- answer
select user_id from windlass_links where hash = :hash and purpose = :purpose and used_at is null and expires_at > {now} for update;

update windlass_links
set used_at = {now}
where hash = :hash and purpose = :purpose and used_at is null and expires_at > {now}
