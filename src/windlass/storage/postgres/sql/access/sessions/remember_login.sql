-- Remembers for a while that an account signed in from an address; each login begins the time anew.
insert into windlass_login_tries (key, tries, until)
values (:key, 0, {now} + cast(:lasts as double precision) * interval '1 second')
on conflict (key) do update set until = excluded.until
