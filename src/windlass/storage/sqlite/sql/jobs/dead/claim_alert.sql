-- Lets one process tell a receiver of a cause: nobody tried within that time, and it is news.
insert into windlass_alerts as a (receiver, definition, fingerprint, tried_at)
values (:receiver, :definition, :fingerprint, {now})
on conflict (receiver, definition, fingerprint) do update set tried_at = excluded.tried_at
where a.tried_at <= {now} - cast(round(:seconds * 1000000) as integer)
    and (a.told_until is null or :last_at is null or a.told_until < :last_at)
returning tried_at
