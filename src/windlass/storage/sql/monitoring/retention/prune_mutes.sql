-- Deletes mutes whose time is over.
-- answer
delete from windlass_mutes where muted_until <= {now} returning fingerprint
