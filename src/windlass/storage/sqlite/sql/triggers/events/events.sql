-- Tells events, newest first, of a name, a correlation or a time.
select * from windlass_events
where (:tenant_id is null or tenant_id = :tenant_id)
    and (:before is null or id < :before)
    and (:name is null or name = :name)
    and (:correlation_id is null or correlation_id = :correlation_id)
    and (:created_after is null or created_at > :created_after)
    and (:created_before is null or created_at < :created_before)
order by id desc limit :most
