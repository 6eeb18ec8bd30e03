-- Tells which causes receivers were told of.
select receiver, definition, fingerprint, tried_at, told_until from windlass_alerts
