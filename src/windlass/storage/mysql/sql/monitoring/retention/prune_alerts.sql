-- Forgets causes that nobody was told of for so long.
delete from windlass_alerts where tried_at < {now} - interval round(:days * 86400) second
