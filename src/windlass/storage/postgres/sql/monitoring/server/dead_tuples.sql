-- Returns how many rows of the queue's tables are needed and how many are dead, by the server's own
-- count.
select relname as name, n_live_tup as live, n_dead_tup as dead,
    extract(epoch from clock_timestamp() - greatest(last_vacuum, last_autovacuum)) as seconds
from pg_stat_all_tables
where relid in (to_regclass('windlass_live'), to_regclass('windlass_later'),
    to_regclass('windlass_claims'))
order by relname
