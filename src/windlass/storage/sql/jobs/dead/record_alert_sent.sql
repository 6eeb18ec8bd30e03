-- Notes until when a receiver was told of a cause.
update windlass_alerts set told_until = {time :last_at}
where receiver = :receiver and definition = :definition and fingerprint = :fingerprint
