-- Forgets causes that nobody was told of for so long.
delete from windlass_alerts where tried_at < {now} - cast(round(:days * 86400000000) as integer)
