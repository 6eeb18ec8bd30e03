-- Counts a login that is tried, and tells how many there were and how long the window lasts.
insert into windlass_login_tries ({name key}, tries, until)
values (:key, 1, {now} + {seconds :window})
{on_conflict key}
    tries = case
        when windlass_login_tries.until <= {now} then 1
        else {least}(windlass_login_tries.tries, 1000000) + 1
    end,
    until = case
        when windlass_login_tries.until <= {now} then {new until}
        else windlass_login_tries.until
    end;

select tries, {until until} as seconds from windlass_login_tries where {name key} = :key
