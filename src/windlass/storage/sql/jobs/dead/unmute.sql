-- Takes a mute back, that of one tenant or the one of all.
delete from windlass_mutes
where definition = :definition and fingerprint = :fingerprint and tenant_id = :tenant_id
