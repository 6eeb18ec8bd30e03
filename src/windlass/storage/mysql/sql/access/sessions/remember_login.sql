-- Remembers for a while that an account signed in from an address; each login begins the time anew.
insert into windlass_login_tries (`key`, tries, until)
values (:key, 0, {now} + interval round(:lasts * 1000000) microsecond)
on duplicate key update until = values(until)
