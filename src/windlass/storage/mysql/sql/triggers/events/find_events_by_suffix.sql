-- The events whose id, written without dashes, ends like this: all ids are looked through.
select id from windlass_events
where right(id, 6) = right(:suffix, 6) and replace(id, '-', '') like concat('%', :suffix)
    and (:tenant_id is null or tenant_id = :tenant_id)
order by id desc limit :most
