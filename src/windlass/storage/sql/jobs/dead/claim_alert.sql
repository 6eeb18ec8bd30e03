-- Claims the alert of a receiver about a cause: not tried within that time, and with news.
insert into windlass_alerts as a (receiver, definition, fingerprint, tried_at)
values (:receiver, :definition, :fingerprint, {now})
on conflict (receiver, definition, fingerprint) do update set tried_at = excluded.tried_at
where a.tried_at <= {now} - {seconds :seconds}
    and (a.told_until is null or {time :last_at} is null or a.told_until < {time :last_at})
returning tried_at
