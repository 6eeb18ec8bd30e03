-- Notes until when a receiver was told of a cause.
update windlass_alerts set told_until = cast(:last_at as timestamptz)
where receiver = :receiver and definition = :definition and fingerprint = :fingerprint
