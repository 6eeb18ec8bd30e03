-- Returns what keeps vacuum from removing dead rows, and for how long; the longest first.
select kind, name, seconds, transactions
from (
    select 'transaction' as kind,
        'process ' || pid || coalesce(' of ' || usename, '')
            || coalesce(' (' || nullif(application_name, '') || ')', '') as name,
        extract(epoch from clock_timestamp() - xact_start) as seconds,
        greatest(age(backend_xid), age(backend_xmin)) as transactions
    from pg_stat_activity
    where pid <> pg_backend_pid() and (datname = current_database() or datname is null)
        and (backend_xid is not null or backend_xmin is not null)
        -- Who clears away is not in the way of it.
        and backend_type <> 'autovacuum worker'
    union all
    select 'prepared', 'the prepared transaction ' || gid,
    extract(epoch from clock_timestamp() - prepared), age(transaction)
    from pg_prepared_xacts where database = current_database()
    union all
    select 'slot', 'the replication slot ' || slot_name, null, age(xmin)
    from pg_replication_slots where xmin is not null
) p
order by transactions desc, name
limit 100
