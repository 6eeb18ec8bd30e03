-- Counts a login that is tried, and tells how many there were and how long the window lasts.
insert into windlass_login_tries (`key`, tries, until)
values (:key, 1, {now} + interval round(:window * 1000000) microsecond)
on duplicate key update
    tries = if(until <= {now}, 1, least(tries, 1000000) + 1),
    until = if(until <= {now}, values(until), until);

select tries, timestampdiff(microsecond, {now}, until) / 1000000 as seconds from windlass_login_tries where `key` = :key
