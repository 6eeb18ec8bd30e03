-- Claims the alert of a receiver about a cause: not tried within that time, and with news.
insert ignore into windlass_alerts (receiver, definition, fingerprint, tried_at)
values (:receiver, :definition, :fingerprint, '1970-01-01');

-- answer
select tried_at from windlass_alerts force index (primary)
where receiver = :receiver and definition = :definition and fingerprint = :fingerprint
    and tried_at <= {now} - interval round(:seconds * 1000000) microsecond
    and (told_until is null or :last_at is null or told_until < :last_at)
for update;

update windlass_alerts set tried_at = {now}
where receiver = :receiver and definition = :definition and fingerprint = :fingerprint
    and tried_at <= {now} - interval round(:seconds * 1000000) microsecond
    and (told_until is null or :last_at is null or told_until < :last_at)
