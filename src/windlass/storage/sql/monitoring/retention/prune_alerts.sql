-- Deletes alerts that were not tried for so long.
delete from windlass_alerts where tried_at < {now} - {days :days}
