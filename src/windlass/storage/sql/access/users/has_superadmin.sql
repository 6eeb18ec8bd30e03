-- Tells whether anybody who administers everything has ever signed in, and still may.
select exists(select 1 from windlass_users
    where superadmin and not disabled and last_login_at is not null) as found
