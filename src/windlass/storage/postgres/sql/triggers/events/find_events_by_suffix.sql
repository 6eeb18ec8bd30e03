-- The events whose id, written without dashes, ends like this: all ids are looked through.
select id from windlass_events
where substr(uuid_send(id), 14, 3) = decode(right(cast(:suffix as text), 6), 'hex')
    and replace(cast(id as text), '-', '') like '%' || :suffix
    and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
order by id desc limit :most
