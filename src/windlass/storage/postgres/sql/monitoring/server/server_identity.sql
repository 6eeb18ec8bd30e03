-- Returns the identity of the server: its cluster, its timeline, which changes with each promotion,
-- and the database. Nothing while it cannot be written to.
select (select system_identifier from pg_control_system())
    || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
    || '/' || (select oid from pg_database where datname = current_database()) as server
where not pg_is_in_recovery()
