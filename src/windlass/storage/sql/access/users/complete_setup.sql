-- Gives a user its name and password as the first administrator; nothing once there is one.
update windlass_users
set name = :name, password_hash = :password_hash, last_login_at = {now}
where id = :id and superadmin and not disabled and last_login_at is null
    -- A derived table: MySQL does not read the table that it changes otherwise.
    and not exists (
        select 1 from (
            select id from windlass_users
            where superadmin and not disabled and last_login_at is not null
        ) as administrators
    )
returning id
