-- Returns whether a superadmin who may still sign in ever did.
select exists(select 1 from windlass_users
    where superadmin and not disabled and last_login_at is not null) as found
