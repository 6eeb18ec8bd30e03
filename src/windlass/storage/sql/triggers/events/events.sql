-- Returns events, newest first, of a name, a correlation or a time.
select * from windlass_events
where ({text :tenant_id} is null or tenant_id = :tenant_id)
    and ({uuid :before} is null or id < :before)
    and ({text :name} is null or name = :name)
    and ({text :correlation_id} is null or correlation_id = :correlation_id)
    and ({time :created_after} is null or created_at > :created_after)
    and ({time :created_before} is null or created_at < :created_before)
order by id desc limit :most
