-- Remembers for a while that an account signed in from an address; each login begins the time anew.
insert into windlass_login_tries (key, tries, until)
values (:key, 0, {now} + cast(:lasts * 1000000 as integer))
on conflict (key) do update set until = excluded.until
