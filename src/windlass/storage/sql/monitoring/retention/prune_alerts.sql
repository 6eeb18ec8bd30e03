-- Forgets causes that nobody was told of for so long.
delete from windlass_alerts where tried_at < {now} - {days :days}
