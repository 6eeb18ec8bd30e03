-- Remembers for a while that an account signed in from an address; each login begins the time anew.
insert into windlass_login_tries ({name key}, tries, until)
values (:key, 0, {now} + {seconds :lasts})
{on_conflict key} until = {new until}
