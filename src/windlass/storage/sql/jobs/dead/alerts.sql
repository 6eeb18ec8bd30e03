-- Returns the causes that receivers were alerted about.
select receiver, definition, fingerprint, tried_at, told_until from windlass_alerts
