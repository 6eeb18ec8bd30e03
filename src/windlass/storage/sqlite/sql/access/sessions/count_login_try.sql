-- Counts a login that is tried, and tells how many there were and how long the window lasts.
insert into windlass_login_tries as l (key, tries, until)
values (:key, 1, {now} + cast(:window * 1000000 as integer))
on conflict (key) do update set
    tries = case when l.until <= {now} then 1 else min(l.tries, 1000000) + 1 end,
    until = case when l.until <= {now} then excluded.until else l.until end
returning tries, (until - {now}) / 1000000.0 as seconds
