-- Records the newest job of a cause that a receiver was alerted about.
update windlass_alerts set told_until = {time :last_at}
where receiver = :receiver and definition = :definition and fingerprint = :fingerprint
