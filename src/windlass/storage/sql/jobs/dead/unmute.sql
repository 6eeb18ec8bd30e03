-- Removes a mute, that of one tenant or of all.
delete from windlass_mutes
where definition = :definition and fingerprint = :fingerprint and tenant_id = :tenant_id
