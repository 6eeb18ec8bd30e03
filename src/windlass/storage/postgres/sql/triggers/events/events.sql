-- Tells events, newest first, of a name, a correlation or a time.
select * from windlass_events
where (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
    and (cast(:before as uuid) is null or id < :before)
    and (cast(:name as text) is null or name = :name)
    and (cast(:correlation_id as text) is null or correlation_id = :correlation_id)
    and (cast(:created_after as timestamptz) is null or created_at > :created_after)
    and (cast(:created_before as timestamptz) is null or created_at < :created_before)
order by id desc limit :most
